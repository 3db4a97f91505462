# Every word that the engine itself reads in a state's arguments, where it can be shown in a small run.
{%- set target = pillar['target'] %}

# -- conditions -----------------------------------------------------------------------------------
onlyif-true:
  test.succeed_with_changes:
    - onlyif: test -d /

onlyif-false:
  test.succeed_with_changes:
    - onlyif:
      - fun: file.file_exists
        path: {{ target }}/missing

unless-true:
  test.succeed_with_changes:
    - unless: test -d /

creates-exists:
  test.succeed_with_changes:
    - creates: /

# The state's cwd is not handed to the condition.
cmd_opts_exclude:
  test.nop:
    - cwd: /nowhere
    - cmd_opts_exclude: cwd
    - onlyif: test -d /

# -- order ----------------------------------------------------------------------------------------
runs-last:
  test.nop:
    - order: last

runs-first:
  test.nop:
    - order: first

# One state for each name, in this order.
several:
  test.nop:
    - names:
      - one
      - two

# -- success ----------------------------------------------------------------------------------------
checked:
  test.fail_without_changes:
    - check_cmd: test -d /

tried-twice:
  cmd.run:
    - name: test -e {{ target }}/tried || { mkdir -p {{ target }}; touch {{ target }}/tried; false; }
    - retry:
        attempts: 2
        interval: 0

fails:
  test.fail_without_changes: []

# The failure is dealt with: the run still succeeds.
handles-it:
  test.nop:
    - onfail:
      - test: fails
    - onfail_stop: false

# -- how it runs ----------------------------------------------------------------------------------
side-by-side:
  test.nop:
    - parallel: true

private-file:
  file.managed:
    - name: {{ target }}/private
    - contents: for my eyes only
    - makedirs: true
    - umask: '077'

hidden:
  test.succeed_with_changes:
    - comment: nobody may read this
    - no_log: true

fires:
  test.nop:
    - fire_event: keywords/done

refreshes:
  test.nop:
    - reload_grains: true
    - reload_pillar: true
