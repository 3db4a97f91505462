# Every requisite once. The first three states are what the others look at.
changes:
  test.succeed_with_changes: []

unchanged:
  test.succeed_without_changes: []

fails:
  test.fail_without_changes: []

# -- require: after its targets, if none failed ------------------------------------------------
require:
  test.nop:
    - require:
      - test: changes
      - test: unchanged

require-blocked:
  test.nop:
    - require:
      - test: fails

require_any:
  test.nop:
    - require_any:
      - test: fails
      - test: unchanged

# -- watch: like require; the module reacts when a target changed --------------------------------
watch:
  test.succeed_without_changes:
    - watch:
      - test: changes

watch_any:
  test.succeed_without_changes:
    - watch_any:
      - test: fails
      - test: changes

# -- onchanges: only if a target changed -----------------------------------------------------------
onchanges:
  test.nop:
    - onchanges:
      - test: changes

onchanges-held:
  test.nop:
    - onchanges:
      - test: unchanged

onchanges_any:
  test.nop:
    - onchanges_any:
      - test: unchanged
      - test: changes

# -- onfail: only if a target failed -----------------------------------------------------------------
onfail:
  test.nop:
    - onfail:
      - test: fails

onfail-held:
  test.nop:
    - onfail:
      - test: unchanged

onfail_any:
  test.nop:
    - onfail_any:
      - test: unchanged
      - test: fails

onfail_all:
  test.nop:
    - onfail_all:
      - test: unchanged
      - test: fails

# -- prereq: before its target, if that is about to change ---------------------------------------------
deploy:
  test.succeed_with_changes: []

prereq:
  test.nop:
    - prereq:
      - test: deploy

# -- listen: reacts once, at the end of the run -------------------------------------------------------
listen:
  test.succeed_without_changes:
    - listen:
      - test: changes

# -- use: takes over arguments -------------------------------------------------------------------------
template:
  test.configurable_test_state:
    - changes: false
    - comment: said once, used twice

use:
  test.configurable_test_state:
    - use:
      - test: template
