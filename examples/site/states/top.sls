# Which machine gets which states. All targets that match add up.
base:
  '*':
    - common
  'N@front':
    - web
  'role:database':
    - match: grain
    - db
