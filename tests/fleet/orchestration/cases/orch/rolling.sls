{# a rolling release: one system at a time #}
rolling drain:
  salt.function:
    - name: test.echo
    - tgt: 'web*'
    - arg: [drained]
    - batch: 1
rolling release:
  salt.state:
    - tgt: 'web*'
    - sls:
      - plain
    - batch: 1
    - require:
      - salt: rolling drain
