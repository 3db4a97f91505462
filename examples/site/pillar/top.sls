base:
  '*':
    - common
  'web*':
    - web
  'role:database':
    - match: grain
    - db
