{# a release that is rolled back if any part of it failed #}
undone one:
  salt.state:
    - tgt: web1
    - sls: plain
undone two:
  salt.state:
    - tgt: web2
    - sls: wrong
undone back:
  salt.state:
    - tgt: 'web*'
    - sls: quiet
    - onfail_any:
      - salt: undone one
      - salt: undone two
undone news:
  salt.function:
    - name: test.echo
    - tgt: db1
    - arg: [rolled back]
    - onchanges_any:
      - salt: undone one
      - salt: undone back
undone check:
  salt.function:
    - name: test.ping
    - tgt: web1
    - unless: 'true'
