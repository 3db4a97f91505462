# What the machine gets when `web` is asked for: the parts, in this order.
include:
  - web.config
  - web.server

web-ready:
  test.succeed_without_changes:
    - comment: the web server is configured
    - require:
      - sls: web.config
      - sls: web.server
