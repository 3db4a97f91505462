{# what would be done #}
tested state:
  salt.state:
    - tgt: 'web*'
    - sls: plain
    - test: True
tested quiet:
  salt.state:
    - tgt: 'web*'
    - sls: quiet
    - test: True
