# The same from the other side: `x_in` makes the named state have the requisite `x`.
begin:
  test.succeed_with_changes:
    - require_in:
      - test: require-here
    - watch_in:
      - test: watch-here
    - onchanges_in:
      - test: onchanges-here
    - listen_in:
      - test: listen-here

fails:
  test.fail_without_changes:
    - onfail_in:
      - test: onfail-here

about-to-change:
  test.succeed_with_changes:
    - prereq_in:
      - test: prereq-here

words:
  test.configurable_test_state:
    - changes: false
    - comment: lent to another state
    - use_in:
      - test: use-here

require-here:
  test.nop: []
watch-here:
  test.succeed_without_changes: []
onchanges-here:
  test.nop: []
listen-here:
  test.succeed_without_changes: []
onfail-here:
  test.nop: []
prereq-here:
  test.nop: []
use-here:
  test.configurable_test_state: []
