inner wrong:
  salt.state:
    - tgt: web1
    - sls: wrong
