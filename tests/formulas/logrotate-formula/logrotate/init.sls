include:
  - .config
  - .jobs
