inner:
  salt.state:
    - tgt: web1
    - sls: told
    - pillar:
        told: True
        words: {{ pillar['words'] }}
