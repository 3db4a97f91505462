{# states by way of salt.function, and what refreshes systems #}
through sls:
  salt.function:
    - name: state.sls
    - tgt: web1
    - arg: [quiet]
through sync:
  salt.function:
    - name: saltutil.refresh_pillar
    - tgt: 'web*'
through conditions:
  salt.function:
    - name: test.ping
    - tgt: web1
    - onlyif: 'false'
through order:
  salt.function:
    - name: test.ping
    - tgt: web1
    - require_in:
      - salt: through last
through last:
  salt.function:
    - name: test.ping
    - tgt: web2
