{# states that may run beside others on a system #}
together a:
  salt.state:
    - tgt: 'web*'
    - sls: plain
    - concurrent: True
    - parallel: True
together b:
  salt.state:
    - tgt: 'web*'
    - sls: quiet
    - concurrent: True
    - parallel: True
together after:
  salt.state:
    - tgt: web1
    - sls: quiet
    - queue: True
    - require:
      - salt: together a
      - salt: together b
