include:
  - .package
  - .tasks
