fails:
  test.fail_without_changes:
    - failhard: true

never-reached:
  test.nop: []
