# All of it, without what is managed by hand here.
include:
  - postgres
  - postgres.report

exclude:
  - id: postgres_user-old
  - sls: postgres.rep*
