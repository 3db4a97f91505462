disk:
  test.fail_without_changes:
    - comment: no disk
