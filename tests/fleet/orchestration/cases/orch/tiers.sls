{# databases before web servers #}
tier db:
  salt.state:
    - tgt: 'db*'
    - highstate: True
tier web:
  salt.state:
    - tgt: web1,web2
    - tgt_type: list
    - sls: plain,quiet
    - require:
      - salt: tier db
