base:
  '*': [database]
