first:
  test.succeed_with_changes
second:
  test.nop:
    - require:
      - test: first
