# One of each: changed, fine, failed, and one that could not run because of that.
changed:
  test.succeed_with_changes: []

fine:
  test.succeed_without_changes: []

failed:
  test.fail_without_changes: []

blocked:
  test.nop:
    - require:
      - test: failed
