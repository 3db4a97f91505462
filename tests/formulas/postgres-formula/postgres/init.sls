include:
  - postgres.server
  - postgres.manage
