marks:
  salt.state:
    - tgt: db1
    - sls: mark
    - pillar:
        place: {{ pillar['place'] }}
        what: {{ pillar['event'] }}
