base:
  '*':
    - quiet
