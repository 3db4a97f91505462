{# one of many as a canary, and more than there are #}
subset of one:
  salt.function:
    - name: test.ping
    - tgt: 'db*'
    - subset: 1
subset of more:
  salt.function:
    - name: test.ping
    - tgt: 'web*'
    - subset: 5
subset of states:
  salt.state:
    - tgt: 'db*'
    - sls: plain
    - subset: 1
