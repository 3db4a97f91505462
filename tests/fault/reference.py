"""The run that is broken everywhere: all that a journal has to bring back, in one tree of states.

Every command appends its ID to ``log``, so that nothing which happened can be hidden.
"""

from __future__ import annotations

THING = '''
"""States that look before they act."""

import os


def made(name, **kwargs):
    if os.path.exists(name):
        return {"name": name, "result": True, "changes": {}, "comment": "there"}
    if __opts__["test"]:
        return {"name": name, "result": None, "changes": {"made": name}, "comment": "would be made"}
    with open(name, "w") as out:
        out.write("made")
    return {"name": name, "result": True, "changes": {"made": name}, "comment": "made"}


def steady(name, **kwargs):
    return {"name": name, "result": True, "changes": {}, "comment": "as it was"}


def fails(name, **kwargs):
    return {"name": name, "result": False, "changes": {}, "comment": "cannot be done"}


def all_of(name, more=(), **kwargs):
    missing = [one for one in [name, *more] if not os.path.exists(one)]
    for one in missing:
        with open(one, "w") as out:
            out.write("made")
    return {"name": name, "result": True, "changes": {one: "made" for one in missing}, "comment": "all"}


def steps(name, **kwargs):
    found = made(name)
    found["sub_state_run"] = [
        {"low": {"name": f"{name}-{n}", "state": "step", "__id__": f"step-{n}", "fun": "done"},
         "result": True, "changes": {"n": n} if n == 1 else {}, "comment": f"step {n}"}
        for n in (1, 2)
    ]
    return found


def mod_watch(name, sfun=None, **kwargs):
    found = made(name + ".signal")
    return {**found, "name": name, "comment": f"signalled: {found['comment']}", "changes": {"signal": True}}


def mod_aggregate(low, chunks, running):
    low["more"] = [one["name"] for one in chunks if one["state"] == "thing" and one["fun"] == "all_of"]
    return low
'''

MAIN = """
{% set at = pillar['at'] %}
{% macro greet(who) %}hello {{ who }}{% endmacro %}
{% set word = 'scoped' %}
include: [pyside]

conf:
  file.managed: [{name: {{ at }}/conf}, {contents: one}]
first:
  cmd.run: [{name: echo first >> {{ at }}/log}, {require: [{file: conf}]}]
signalled:
  thing.steady: [{name: {{ at }}/signalled}, {watch: [{file: conf}]}]
onchanged:
  cmd.run: [{name: echo onchanged >> {{ at }}/log}, {onchanges: [{thing: signalled}]}]
held:
  cmd.run: [{name: echo held >> {{ at }}/log}, {onchanges: [{thing: quiet}]}]
quiet:
  thing.steady: [{name: quiet}]
prepares:
  thing.made: [{name: {{ at }}/prepares}, {prereq: [{file: prepared}]}]
prepared:
  file.managed: [{name: {{ at }}/prepared}, {contents: two}]
hopeless:
  thing.made: [{name: {{ at }}/hopeless}, {prereq: [{thing: rehearsal-fails}]}]
rehearsal-fails:
  thing.fails: [{name: x}]
mended:
  cmd.run: [{name: echo mended >> {{ at }}/log}, {onfail: [{thing: rehearsal-fails}]}]
ears:
  cmd.run: [{name: echo ears >> {{ at }}/log}, {listen: [{file: conf}]}]
small-ears:
  thing.steady: [{name: {{ at }}/small-ears}, {listen: [{file: prepared}]}]
secret:
  cmd.run: [{name: echo secret >> {{ at }}/log; echo tell-nobody}, {no_log: true}, {register: secret}]
told:
  file.managed: [{name: {{ at }}/told}, {contents: "${delayed:secret.data.stdout}"}]
par-1:
  cmd.run: [{name: echo par-1 >> {{ at }}/log}, {parallel: true}]
par-2:
  thing.made: [{name: {{ at }}/par-2}, {parallel: true}]
par-3:
  thing.made: [{name: {{ at }}/par-3}, {parallel: true}, {require: [{thing: par-2}]}]
stepping:
  thing.steps: [{name: {{ at }}/stepping}]
stepped:
  thing.steady: [{name: {{ at }}/stepped}, {watch: [{thing: stepping}]}]
{% for n in (1, 2, 3) %}
group-{{ n }}:
  thing.all_of: [{name: {{ at }}/group-{{ n }}}, {aggregate: true}]
{% endfor %}
caller:
  thing.made:
    - name: {{ at }}/caller
    - delayed_render: [{block: outer}, {block: lefty, when: failure}, {sls: later}]
after-caller:
  thing.steady: [{name: {{ at }}/after-caller}, {watch: [{thing: caller}]}]
guarded:
  cmd.run: [{name: echo guarded >> {{ at }}/guarded}, {creates: {{ at }}/guarded}, {require: [{cmd: par-1}]}]
stopping:
  test.fail_without_changes: [{failhard: true}, {require: [{thing: par-3}]}]
never:
  cmd.run: [{name: echo never >> {{ at }}/log}]

#!delayed_block outer scoped
in-outer:
  file.managed:
    - name: {{ pillar['at'] }}/in-outer
    - contents: {{ greet(word) }} after {{ prev_ret.name }}
    - delayed_render: [{block: inner}]
once-outer:
  cmd.run: [{name: echo once-outer >> {{ pillar['at'] }}/log}]
outer-ears:
  thing.steady: [{name: {{ pillar['at'] }}/outer-ears}, {listen: [{file: in-outer}]}]
#!end_delayed_block outer
#!delayed_block inner
in-inner:
  thing.made: [{name: {{ pillar['at'] }}/in-inner}]
once-inner:
  cmd.run: [{name: echo once-inner >> {{ pillar['at'] }}/log}, {onchanges: [{thing: in-inner}]}]
#!end_delayed_block inner
#!delayed_block lefty
lefty:
  test.nop
#!end_delayed_block lefty
"""

PYSIDE = """#!py
def run():
    return {"by-python": {"thing.made": [{"name": __pillar__["at"] + "/by-python"}]}}
"""

LATER = """#!py
def run():
    return {"later": {"thing.made": [{"name": __pillar__["at"] + "/later"}]},
            "once-later": {"cmd.run": [{"name": "echo once-later >> " + __pillar__["at"] + "/log"}]}}
"""

FILES = {"_states/thing.py": THING, "main.sls": MAIN, "pyside.sls": PYSIDE, "later.sls": LATER}
