{# a failure that ends all #}
hard first:
  salt.state:
    - tgt: web1
    - sls: wrong
    - failhard: True
hard last:
  salt.function:
    - name: test.ping
    - tgt: web1
