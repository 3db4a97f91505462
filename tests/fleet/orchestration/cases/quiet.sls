nothing:
  test.nop
