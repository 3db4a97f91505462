{# a function that judges the answers #}
checks fine:
  salt.function:
    - name: test.echo
    - tgt: web1
    - arg: [here]
    - fail_function: test.echo
checks attempts:
  salt.function:
    - name: test.false
    - tgt: web1
    - retry:
        attempts: 2
        interval: 0.1
