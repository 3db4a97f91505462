"""``handler``: what is done after a failure of an action, before the chain ends, continues or waits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saltern.chains.accept import Order, start
from saltern.chains.compile import plan_for
from saltern.chains.document import read_chain
from saltern.chains.drive import resume_leg
from saltern.chains.legs import Legs
from saltern.chains.orders import change
from saltern.chains.render import segment_text, state_text
from saltern.chains.show import as_data
from saltern.config.settings import Settings
from saltern.fleet.chains.plans import plan_systems
from saltern.language.diagnostics import ChainError

TEXT = """\
chain: c
actions:
  - {id: a, command: 'echo a >> LOG'}
  - id: b
    command: 'echo b >> LOG; test -e WELL'
    POLICY
    handler:
      - {id: back, command: 'echo back >> LOG'}
      - {command: 'echo told >> LOG'}
  - {id: c, command: 'echo c >> LOG'}
finally:
  - {id: f, command: 'echo f >> LOG'}
"""


class Machine:
    def __init__(self, base: Path, policy: str = "") -> None:
        self.base = base
        self.settings = Settings(id="s", state_dir=str(base / "state"), cachedir=str(base / "cache"))
        text = TEXT.replace("LOG", str(base / "log")).replace("WELL", str(base / "well"))
        self.text = text.replace("    POLICY\n", f"    {policy}\n" if policy else "")

    def run(self) -> dict[str, Any]:
        known = start(self.settings, Order(text=self.text, file="c.yaml", system="s"))
        return as_data(known, self.settings)

    @property
    def log(self) -> list[str]:
        return (self.base / "log").read_text().split()

    @property
    def leg(self) -> str:
        return Legs(self.settings).ids()[0]


def statuses(data: dict[str, Any]) -> dict[str, str]:
    return {row["action"]: row["status"] for row in data["steps"]}


GOOD = {"a": "succeeded", "f": "succeeded"}


def test_an_action_that_fails_is_handled_once_and_then_the_chain_ends(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    data = machine.run()
    assert machine.log == ["a", "b", "back", "told", "f"]
    handled = {"back": "succeeded", "b-handler-2": "succeeded"}
    assert (data["status"], statuses(data)) == ("failed", {**GOOD, "b": "failed", "c": "not run", **handled})


@pytest.mark.parametrize(
    ("policy", "log", "status"),
    [
        ("on_failure: handler", ["a", "b", "back", "told", "f"], "failed"),
        ("on_failure: continue", ["a", "b", "back", "told", "c", "f"], "failed"),
        ("on_failure: pause", ["a", "b", "back", "told"], "paused"),
    ],
)
def test_then_it_does_what_is_said_of_a_failure(
    policy: str, log: list[str], status: str, tmp_path: Path
) -> None:
    machine = Machine(tmp_path, policy)
    assert (machine.run()["status"], machine.log) == (status, log)


def test_without_a_failure_nothing_is_handled_and_that_is_a_success(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    (tmp_path / "well").touch()
    data = machine.run()
    assert (data["status"], machine.log) == ("succeeded", ["a", "b", "c", "f"])
    assert statuses(data)["back"] == "not run"


def test_a_retry_that_fails_again_is_handled_again(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.run()
    change(machine.settings, machine.leg, "retry")
    resume_leg(machine.settings, machine.leg)
    assert machine.log[5:] == ["b", "back", "told", "f"]
    (tmp_path / "well").touch()
    change(machine.settings, machine.leg, "retry")
    assert resume_leg(machine.settings, machine.leg).state.status.value == "succeeded"
    assert machine.log[9:] == ["b", "c", "f"]


def test_a_handler_that_fails_ends_the_handling(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.text = machine.text.replace("'echo back", "'false #")
    data = machine.run()
    assert statuses(data)["back"] == "failed" and statuses(data)["b-handler-2"] == "not run"
    assert (data["status"], statuses(data)["f"]) == ("failed", "succeeded")


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ("on_failure: handler", "'on_failure: handler' has no handler"),
        ("handler: {reboot: {}}", "a handler cannot be a reboot"),
        ("handler: {command: x, targets: [y]}", "a handler has no 'targets' of its own"),
        ("handler: {command: x, handler: {command: y}}", "a handler has no 'handler' of its own"),
        ("handler: [{command: x, id: a}]", "two actions have the id 'a'"),
        ("handler: {commnad: x}", "no action is called 'commnad'"),
        ("handler: []", "handler"),
    ],
)
def test_a_handler_that_is_none_is_refused_with_its_line(policy: str, why: str) -> None:
    text = f"chain: c\nactions:\n  - id: a\n    command: x\n    {policy}\n"
    with pytest.raises(ChainError, match=why):
        read_chain(text, "c.yaml")


def test_as_states_a_handler_is_for_a_failure(tmp_path: Path) -> None:
    plan = plan_for(read_chain(Machine(tmp_path).text, "c"), "s")
    for text in (state_text(plan), segment_text(plan, plan.segments[0])):
        first, second = (text.partition(f"action_{name}:")[2] for name in ("back", "b-handler-2"))
        assert "- onfail:\n    - cmd: action_b\n" in first and "- onfail:\n    - cmd: action_b\n" in second
        assert "- require:\n    - cmd: action_back\n" in second
        assert text.index("action_b:") < text.index("action_back:") < text.index("action_c:")


def test_a_controller_knows_what_a_handler_is_for(tmp_path: Path) -> None:
    steps = plan_systems(read_chain(Machine(tmp_path).text, "c"), ["s"])["s"].steps
    assert [(one.id, one.final, one.handles) for one in steps] == [
        ("a", False, ""),
        ("b", False, ""),
        ("c", False, ""),
        ("back", True, "b"),
        ("b-handler-2", True, "b"),
        ("f", True, ""),
    ]
