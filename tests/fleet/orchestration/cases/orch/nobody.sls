{# targets that mean no system #}
nobody state:
  salt.state:
    - tgt: 'mail*'
    - sls: plain
nobody expected:
  salt.state:
    - tgt: 'mail*'
    - sls: plain
    - expect_minions: False
nobody function:
  salt.function:
    - name: test.ping
    - tgt: 'mail*'
