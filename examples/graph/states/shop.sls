include:
  - base

config:
  test.succeed_with_changes:
    - require:
      - sls: base

service:
  test.nop:
    - watch:
      - test: config
    - require:
      - test: package
    - delayed_render:
      - block: pages

package:
  test.succeed_without_changes: []

#!delayed_block pages
front page:
  test.succeed_with_changes: []
#!end_delayed_block
