{# what follows from a failure #}
rescue bad:
  salt.state:
    - tgt: web1
    - sls: wrong
rescue after:
  salt.function:
    - name: test.ping
    - tgt: web1
    - require:
      - salt: rescue bad
rescue help:
  salt.function:
    - name: test.ping
    - tgt: web2
    - onfail:
      - salt: rescue bad
