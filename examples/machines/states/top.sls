base:
  'web*':
    - web
  'role:database':
    - match: grain
    - db
