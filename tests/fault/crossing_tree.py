"""The run that is broken everywhere, with barriers in it: a reboot, one in a frame, one that a
command asks for between its two parts, and an update.

Every step that may not be done twice appends its ID to ``log``, with the boot and the build it ran in.
"""

from __future__ import annotations

from tests.fault.reference import THING

MARK = '''
"""Something that happens in the process of the engine, and may happen once."""

import os


def down(what, at):
    boot = open(at + "/boot").read()
    with open(at + "/log", "a") as out:
        out.write(f"{what} {boot} {os.environ['BUILD']}\\n")
    return what
'''

MAIN = """
{% set at = pillar['at'] %}
{% macro echo(id) %}echo {{ id }} $(cat {{ at }}/boot) $BUILD >> {{ at }}/log{% endmacro %}
conf:
  file.managed: [{name: {{ at }}/conf}, {contents: one}]
first:
  cmd.run: [{name: "{{ echo('first') }}"}, {require: [{file: conf}]}]
after-first:
  thing.made: [{name: {{ at }}/after-first}, {require: [{cmd: first}]}]
noted:
  module.run: [{mark.down: [{what: noted}, {at: {{ at }}}]}]
loose:
  thing.made: [{name: {{ at }}/loose}]
signalled:
  thing.steady: [{name: {{ at }}/signalled}, {watch: [{file: conf}]}]
prepares:
  thing.made: [{name: {{ at }}/prepares}, {prereq: [{file: prepared}]}]
prepared:
  file.managed: [{name: {{ at }}/prepared}, {contents: two}]
fails:
  thing.fails: [{name: x}]
mended:
  module.run: [{mark.down: [{what: mended}, {at: {{ at }}}]}, {onfail: [{thing: fails}]}]
ears:
  cmd.wait: [{name: "{{ echo('ears') }}"}, {listen: [{file: conf}]}]
secret:
  cmd.run: [{name: "{{ echo('secret') }}; echo word"}, {register: secret}]
told:
  file.managed: [{name: {{ at }}/told}, {contents: "${delayed:secret.data.stdout}"}]
par-1:
  cmd.run: [{name: "{{ echo('par-1') }}"}, {parallel: true}]
par-2:
  thing.made: [{name: {{ at }}/par-2}, {parallel: true}]
stepping:
  thing.steps: [{name: {{ at }}/stepping}, {require: [{thing: par-2}, {cmd: par-1}]}]
caller:
  thing.made: [{name: {{ at }}/caller}, {delayed_render: [{block: outer}]}]
after-caller:
  thing.steady: [{name: {{ at }}/after-caller}, {watch: [{thing: caller}]}]
{% for n in (1, 2) %}
group-{{ n }}:
  thing.all_of: [{name: {{ at }}/group-{{ n }}}, {aggregate: true}]
{% endfor %}
restart:
  system.reboot: [{only_on_pending_reboot: false}, {checks: [test -f {{ at }}/boot]}]
second:
  cmd.run: [{name: "{{ echo('second') }}"}, {require: [{system: restart}]}]
halfway:
  cmd.run: [{name: "{{ at }}/halfway.sh"}, {reboot_retcodes: true}]
update:
  saltern.updated: [{version: "2"}, {slots: {{ at }}/opt}, {deadline: 30}]
third:
  module.run: [{mark.down: [{what: third}, {at: {{ at }}}]}, {require: [{saltern: update}]}]
last:
  cmd.run: [{name: "{{ echo('last') }}"}, {onchanges: [{saltern: update}]}]

#!delayed_block outer
{% set at = pillar['at'] %}
in-outer:
  file.managed: [{name: {{ at }}/in-outer}, {contents: after {{ prev_ret.name }}}]
once-outer:
  module.run: [{mark.down: [{what: once-outer}, {at: {{ at }}}]}]
between:
  system.reboot: [{only_on_pending_reboot: false}]
beyond:
  thing.made: [{name: {{ at }}/beyond}, {require: [{system: between}]}, {delayed_render: [{block: inner}]}]
outer-ears:
  thing.steady: [{name: {{ at }}/outer-ears}, {listen: [{file: in-outer}]}]
#!end_delayed_block outer
#!delayed_block inner
once-inner:
  cmd.run: [{name: "echo once-inner $(cat {{ pillar['at'] }}/boot) $BUILD >> {{ pillar['at'] }}/log"}]
#!end_delayed_block inner
"""

FILES = {"_states/thing.py": THING, "_modules/mark.py": MARK, "main.sls": MAIN}
PARTS = {"halfway": ("part-1", "part-2")}  # what it logs
COUNTS_ON = {  # what fails if something before it is indeterminate
    "after-first": {"first"},
    "told": {"secret"},
    "stepping": {"par-1"},
    "after-caller": {"once-outer", "once-inner"},
}
