{# failures that are allowed #}
allowed one:
  salt.state:
    - tgt: 'web*'
    - sls: half
    - allow_fail: 1
allowed that one:
  salt.state:
    - tgt: 'web*'
    - sls: half
    - fail_minions: web2
allowed as a list:
  salt.state:
    - tgt: 'web*'
    - sls: half
    - fail_minions: [web2]
allowed another:
  salt.state:
    - tgt: 'web*'
    - sls: half
    - fail_minions: [web1]
