"""A chain file is read strictly: every mistake has its line and says what to do."""

from __future__ import annotations

import pytest

from saltern.chains.actions import KINDS
from saltern.chains.document import read_chain
from saltern.language.diagnostics import CompileError

WHOLE = """\
chain: all
systems: [web1, 'db*']
actions:
  - packages: {install: [vim, less]}
  - patch:
  - upgrade: {}
  - command: {run: 'echo {{ braces }}', creates: /x, env: {A: 1}}
    title: say something
  - script: {source: salt://x.sh, args: [a, b c]}
    resume: rerun
  - state: {sls: [web, db], pillar: {a: {b: 1}}}
  - highstate: {}
  - file: {path: /etc/motd, contents: hello, mode: '0644'}
  - wait: {seconds: 0.5}
  - health: {url: 'http://localhost/', attempts: 3}
    on_failure: continue
  - request: {url: 'http://localhost/pool', data: {leave: true}}
  - transaction: zypper patch
  - transaction: {install: {nginx: '1.2', curl: null}, refresh: true}
  - transaction: {sls: web, pillar: {a: 1}}
  - reboot: {when: needed, checks: ['true']}
  - agent: {version: 1.2.3}
    retry: {attempts: 2, wait: 1}
"""

MISTAKES = {
    "a scalar": ("hello", "f.yaml:1:1: a chain file is a mapping"),
    "no actions": ("chain: x\n", "'actions' is missing"),
    "no action at all": ("chain: x\nactions: []\n", "f.yaml:2:1: actions: expected `array` of length >= 1"),
    "an unknown key": ("chain: x\nactoins: []\n", "f.yaml:2:1: no key is called 'actoins' here"),
    "its hint": ("chain: x\nactoins: []\n", "did you mean 'actions'?"),
    "an unknown kind": (
        "chain: x\nactions:\n  - comand: {run: x}\n",
        "f.yaml:3:5: no action is called 'comand'",
    ),
    "the hint of a kind": ("chain: x\nactions:\n  - comand: {run: x}\n", "did you mean 'command'?"),
    "no kind": ("chain: x\nactions:\n  - id: a\n", "this action has no kind"),
    "two kinds": (
        "chain: x\nactions:\n  - wait: {seconds: 1}\n    reboot:\n",
        "only one kind, not wait and reboot",
    ),
    "an unknown argument": (
        "chain: x\nactions:\n  - command:\n      run: a\n      user: root\n",
        "f.yaml:5:7: no key is called 'user' here",
    ),
    "a wrong type": (
        "chain: x\nactions:\n  - packages:\n      install:\n        vim: 1.2\n",
        "put it in quotes",
    ),
    "a wrong choice": (
        "chain: x\nactions:\n  - reboot: {}\n    on_failure: go\n",
        "f.yaml:4:5: on_failure: 'go' is not possible [chain-file]\n  fix: give stop or continue or pause",
    ),
    "a number below zero": (
        "chain: x\nactions:\n  - wait: {seconds: -1}\n",
        "f.yaml:3:12: seconds: expected",
    ),
    "the same id twice": (
        "chain: x\nactions:\n  - {id: a, reboot: }\n  - {id: a, reboot: }\n",
        "f.yaml:4:6: two actions have the id 'a'",
    ),
    "a mode without quotes": (
        "chain: x\nactions:\n  - file: {path: /x, contents: '', mode: 0644}\n",
        "put it in quotes",
    ),
    "two sources": (
        "chain: x\nactions:\n  - file: {path: /x, contents: '', source: y}\n",
        "'file': exactly one of source, contents is needed, not source and contents",
    ),
    "a transaction of two things": (
        "chain: x\nactions:\n  - transaction: {run: a, install: [b]}\n",
        "patch, upgrade, sls, highstate is needed, not run and install",
    ),
    "a transaction that is switched off": (
        "chain: x\nactions:\n  - transaction: {patch: false}\n",
        "not none",
    ),
    "a pillar for packages": (
        "chain: x\nactions:\n  - transaction: {install: [a], pillar: {b: 1}}\n",
        "pillar is only for sls, highstate",
    ),
    "nothing to check": ("chain: x\nactions:\n  - health: {}\n", "exactly one of command, url, service"),
    "a relative path": ("chain: x\nactions:\n  - file: {path: x, contents: ''}\n", "f.yaml:3:12: path"),
    "an id with a dot": ("chain: x\nid: a.b\nactions: [{reboot: }]\n", "f.yaml:2:1: id"),
    "broken YAML": ("chain: [\n", "f.yaml:"),
    "an action that is text": ("chain: x\nactions: [reboot]\n", "f.yaml:2:11"),
}


def test_every_kind_can_be_written() -> None:
    chain = read_chain(WHOLE, "f.yaml")
    assert {action.kind for action in chain.actions} == set(KINDS)
    assert [action.id for action in chain.actions] == [
        str(number + 1) for number in range(len(chain.actions))
    ]
    assert chain.id == "all"


def test_targets_are_names_or_patterns() -> None:
    chain = read_chain(WHOLE, "f.yaml")
    assert chain.systems() == ["web1"]
    assert [chain.actions[0].meant_for(name) for name in ("web1", "db7", "web2")] == [True, True, False]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_place(name: str) -> None:
    text, said = MISTAKES[name]
    with pytest.raises(CompileError) as problem:
        read_chain(text, "f.yaml")
    assert said in str(problem.value)


def test_the_mistakes_of_all_actions_are_told_at_once() -> None:
    with pytest.raises(CompileError) as problem:
        read_chain("chain: x\nactions:\n  - wait: {}\n  - nothing: {}\n  - command: {run: 1}\n", "f.yaml")
    assert len(problem.value.diagnostics) == 3


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("command: uptime", "command: {run: uptime}"),
        ("script: salt://x.sh", "script: {source: 'salt://x.sh'}"),
        ("state: web", "state: {sls: web}"),
        ("state: [web, db]", "state: {sls: [web, db]}"),
        ("packages: [nginx]", "packages: {install: [nginx]}"),
        ("patch: [nginx]", "patch: {packages: [nginx]}"),
        ("patch:", "patch: {}"),
        ("wait: 3", "wait: {seconds: 3}"),
        ("health: 'true'", "health: {command: 'true'}"),
        ("agent: '2.0'", "agent: {version: '2.0'}"),
    ],
)
def test_a_plain_value_stands_for_what_matters_most(short: str, long: str) -> None:
    texts = [f"chain: x\nactions:\n  - {one}\n" for one in (short, long)]
    (first,), (second,) = (read_chain(text, "x.yaml").actions for text in texts)
    assert first == second


def test_a_mapping_that_is_missing_is_told_with_its_keys() -> None:
    with pytest.raises(CompileError) as raised:
        read_chain("chain: x\nactions:\n  - file: /etc/motd\n", "x.yaml")
    (problem,) = raised.value.diagnostics
    assert (problem.what, str(problem.where)) == ("'file' needs a mapping here", "x.yaml:3:5")
    assert problem.fix.startswith("its keys are path, source, contents")
