users:
  test.nop: []

groups:
  test.nop:
    - require_in:
      - test: users
