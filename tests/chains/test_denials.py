"""A deny list stops the action that it forbids, and not the chain."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import convert

from saltern.chains.actions import KINDS
from saltern.chains.compile import plan_for
from saltern.chains.decide import Begin, Deny, Wait, decide
from saltern.chains.denials import SAME, denied_by
from saltern.chains.document import Action, Policy, read_chain
from saltern.chains.leg import LegState, fold
from saltern.journal.form import Record

CHAIN_ACTIONS: dict[str, list[dict[str, Any]]] = {
    "packages": [{"install": ["a"]}, {"latest": ["a"]}, {"remove": ["a"]}, {"purge": ["a"]}],
    "patch": [{}],
    "upgrade": [{}],
    "command": [{"run": "true"}],
    "script": [{"source": "salt://a"}],
    "state": [{"sls": "a"}],
    "highstate": [{}],
    "file": [{"path": "/a", "contents": ""}],
    "wait": [{"seconds": 1}],
    "health": [{"command": "true"}, {"url": "http://a"}, {"service": "a"}],
    "request": [{"url": "http://a"}],
    "transaction": [
        {"run": "a"},
        {"install": ["a"]},
        {"latest": ["a"]},
        {"remove": ["a"]},
        {"patch": True},
        {"upgrade": True},
        {"sls": "a"},
        {"highstate": True},
    ],
    "reboot": [{}],
    "agent": [{"version": "1"}],
}
TEXT = """chain: c
actions:
  - {id: a, file: {path: /tmp/a, contents: x}}
  - {id: b, command: 'true', on_failure: continue}
  - {id: c, file: {path: /tmp/c, contents: x}}
finally:
  - {id: f, command: 'true'}
"""


def _action(kind: str, body: dict[str, Any]) -> Action:
    return Action(id="x", kind=kind, body=convert(body, KINDS[kind].body), policy=Policy())


@pytest.mark.parametrize(
    ("body", "functions"),
    [
        ({"run": "a"}, ["cmd.run", "cmd.shell"]),
        ({"install": ["a"]}, ["pkg.installed", "pkg.install"]),
        ({"remove": ["a"]}, ["pkg.removed", "pkg.remove"]),
        ({"patch": True}, ["pkg.uptodate", "pkg.upgrade"]),
        ({"sls": "a"}, ["state.apply", "state.sls", "state.highstate"]),
    ],
)
def test_a_transaction_is_denied_by_what_it_does_in_the_snapshot(
    body: dict[str, Any], functions: list[str]
) -> None:
    for function in functions:
        assert denied_by(_action("transaction", body), [function]) == (function, function)
    others = [one for one in ("cmd.run", "pkg.install", "state.apply") if one not in functions]
    assert denied_by(_action("transaction", body), others) == ("", "")


@pytest.mark.parametrize("kind", KINDS)
def test_every_function_that_an_action_calls_can_be_denied(kind: str) -> None:
    assert set(CHAIN_ACTIONS) == set(KINDS)
    for body in CHAIN_ACTIONS[kind]:
        call = _action(kind, body).body.call(False)
        inner = [name for name in call.args if "." in name] if call.function == "module.run" else []
        for function in (call.function, *inner):
            assert function in SAME, function
            for same in SAME[function]:
                assert denied_by(_action(kind, body), [same])[1] == same
        assert denied_by(_action(kind, body), ["nothing.*"]) == ("", "")


def test_commands_that_an_action_runs_beside_its_state_count() -> None:
    script = _action("script", {"source": "salt://a", "unless": "true"})
    assert denied_by(script, ["cmd.run"]) == ("cmd.run", "cmd.run")
    assert denied_by(_action("reboot", {"checks": ["true"]}), ["cmd.*"]) == ("cmd.run", "cmd.*")


def _state(*records: tuple[str, dict[str, Any]]) -> LegState:
    plan = plan_for(read_chain(TEXT, "c"), "here")
    return fold(plan, [Record(at, kind, body) for at, (kind, body) in enumerate(records)])


def _done(name: str) -> tuple[str, dict[str, Any]]:
    return "results", {"steps": {name: {"status": "succeeded", "comment": "", "changed": False, "took": 0.0}}}


def test_the_actions_before_a_denied_one_run_and_so_do_those_after_it_that_may() -> None:
    head = [("accepted", {"denied": ["cmd.*"]}), ("begun", {})]
    command = decide(_state(*head))
    assert isinstance(command, Begin) and [one.id for one in command.actions] == ["a"]
    command = decide(_state(*head, _done("a")))
    assert isinstance(command, Deny) and command.action == "b" and "cmd.run (cmd.*)" in command.why
    failed = ("results", {"steps": {"b": {"status": "failed", "comment": "", "changed": False, "took": 0.0}}})
    command = decide(_state(*head, _done("a"), failed))
    assert isinstance(command, Begin) and [one.id for one in command.actions] == ["c"]
    command = decide(_state(*head, _done("a"), failed, _done("c")))
    assert isinstance(command, Deny) and command.action == "f"


def test_a_leg_waits_after_the_last_action_that_it_may_do() -> None:
    head = [("accepted", {"until": "b", "order": 1}), ("begun", {})]
    command = decide(_state(*head))
    assert isinstance(command, Begin) and [one.id for one in command.actions] == ["a", "b"]
    done = [_done("a"), _done("b")]
    assert isinstance(decide(_state(*head, *done)), Wait)
    waiting = _state(*head, *done, ("waiting", {}))
    assert decide(waiting) is None
    again = _state(*head, *done, ("waiting", {}), ("order", {"order": 2, "until": "c"}), ("begun", {}))
    command = decide(again)
    assert isinstance(command, Begin) and [one.id for one in command.actions] == ["c"]
    assert again.order == 2
