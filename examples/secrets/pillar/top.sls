base:
  '*': [database, api]
