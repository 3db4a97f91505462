{# several functions of several kinds, one for another system #}
asked_first:
  local.cmd.run:
    - tgt: {{ data['hosts'][0] }}
    - arg: [echo first >> {{ data['place'] }}/asked]

asked_second:
  runner.salt.execute:
    - args:
      - tgt: {{ data['hosts'][1] }}
      - fun: cmd.run
      - arg: [echo second >> {{ data['place'] }}/asked]
