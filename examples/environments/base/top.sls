base:
  '*':
    - common
dev:
  'dev* or E@test[0-9]+':
    - app
