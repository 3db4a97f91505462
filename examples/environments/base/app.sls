app:
  test.configurable_test_state:
    - changes: false
    - comment: the app of base
