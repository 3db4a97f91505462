{# who must answer, and in what time #}
expected all:
  salt.function:
    - name: test.ping
    - tgt: 'web*'
    - expect_minions: True
    - timeout: 30
expected none:
  salt.function:
    - name: test.ping
    - tgt: 'mail*'
    - expect_minions: True
expected but may fail:
  salt.function:
    - name: test.false
    - tgt: 'web*'
    - fail_minions: [web1, web2]
expected kept:
  salt.state:
    - tgt: 'web*'
    - sls: quiet
    - timeout: 60
