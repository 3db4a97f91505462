base:
  'db*':
    - database
