{# reload only what changed #}
changes none:
  salt.state:
    - tgt: 'web*'
    - sls: quiet
changes some:
  salt.state:
    - tgt: 'web*'
    - sls: plain
changes not after:
  salt.function:
    - name: test.ping
    - tgt: web1
    - onchanges:
      - salt: changes none
changes after:
  salt.function:
    - name: test.ping
    - tgt: web1
    - onchanges:
      - salt: changes some
