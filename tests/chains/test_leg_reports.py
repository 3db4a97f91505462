"""What a system reports of its leg while it runs: each action is reported when it begins, with the end of the
one before it, however short that was; and the controller takes each report for newer than the one before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from saltern.cli import worker_leg
from saltern.cli.worker_follower import JobFollower
from saltern.config.settings import Settings
from saltern.fleet.agent.task import JobFolder, Task
from saltern.fleet.chains.advance import advance
from saltern.fleet.chains.events import Reported
from saltern.fleet.chains.model import LegState, RunState, StepPlan, StepState, Strategy, WaveState
from saltern.fleet.controller.chains.reports import read_report
from saltern.system import atomic

# This action copies what its controller knows while it runs.
SEEN = "{id: %s, command: 'cp BASE/job/leg BASE/seen-%s'}"
FIRST = {
    "a command": "{id: a, command: 'true'}",
    "a file": "{id: a, file: {path: BASE/file, contents: text}}",
    "a wait": "{id: a, wait: 0}",
}


class System:
    """Carries out one order, and keeps all reports that its agent could have sent."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.base = base
        self.reports: list[dict[str, Any]] = []
        self._write = atomic.write
        monkeypatch.setattr(atomic, "write", self._noted)

    def _noted(self, path: str, data: bytes, **options: Any) -> None:
        self._write(path, data, **options)
        if path == str(self.base / "job/leg"):
            self.reports.append(json.decode(data))

    def run(self, *actions: str) -> dict[str, Any]:
        text = "chain: c\nactions:\n" + "".join(f"  - {one}\n" for one in actions)
        asked = worker_leg.Asked(run="r", order=1, verb="run", text=text.replace("BASE", str(self.base)))
        (self.base / "job").mkdir()
        follower = JobFollower(JobFolder(str(self.base / "job")), Task(jid="r", function="chain.leg"))
        settings = Settings(id="web1", state_dir=str(self.base / "state"), cachedir=str(self.base / "cache"))
        return worker_leg.carry_out(settings, asked, follower)

    def seen(self, action: str) -> dict[str, str]:
        """What the report said while this action ran."""
        return statuses(json.decode((self.base / f"seen-{action}").read_bytes()))


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> System:
    return System(tmp_path, monkeypatch)


def statuses(report: dict[str, Any]) -> dict[str, str]:
    return {row["action"]: row["status"] for row in report["steps"]}


@pytest.mark.parametrize("first", list(FIRST))
def test_the_end_of_a_short_action_is_reported_when_the_next_one_begins(system: System, first: str) -> None:
    system.run(FIRST[first], SEEN % ("b", "b"), SEEN % ("c", "c"))
    assert system.seen("b") == {"a": "succeeded", "b": "running", "c": "not run"}
    assert system.seen("c") == {"a": "succeeded", "b": "succeeded", "c": "running"}


@pytest.mark.parametrize("first", list(FIRST))
def test_an_action_without_a_program_is_reported_when_it_begins(system: System, first: str) -> None:
    system.run(FIRST[first], "{id: b, wait: 0}", "{id: c, wait: 0}")
    known = [statuses(one) for one in system.reports]
    assert {"a": "succeeded", "b": "running", "c": "not run"} in known
    assert {"a": "succeeded", "b": "succeeded", "c": "running"} in known


def test_the_controller_takes_each_report_for_newer_than_the_one_before(system: System) -> None:
    """Otherwise it would show an action as not run for as long as it runs."""
    actions = [f"{{id: {name}, command: 'true'}}" for name in "abc"]
    system.run(*actions, "{id: d, wait: 0}", "{id: e, file: {path: BASE/file, contents: text}}")
    plan = tuple(StepPlan(id=name) for name in "abcde")
    leg = LegState(
        id="r.s", system="s", wave=0, plan=plan, steps=tuple(StepState() for _ in plan), order=1, sent="run"
    )
    waves = (WaveState(number=0, legs=(leg.id,)),)
    run = RunState(id="r", version="v", strategy=Strategy(), deadline=1e9, legs={leg.id: leg}, waves=waves)
    for one in system.reports:
        event = read_report(run.legs[leg.id], one, 1.0)
        assert isinstance(event, Reported)
        run, _ = advance(run, event)
        shown = {one.id: step.status.value for one, step in zip(plan, run.legs[leg.id].steps, strict=True)}
        assert shown == statuses(one)
    running = [name for one in system.reports for name, said in statuses(one).items() if said == "running"]
    assert list(dict.fromkeys(running)) == list("abcde")


def test_an_action_that_another_one_blocks_is_never_reported_as_running(system: System) -> None:
    system.run("{id: a, command: 'false'}", "{id: b, command: 'true'}", "{id: c, wait: 0}")
    known = {(name, said) for one in system.reports for name, said in statuses(one).items()}
    assert known == {("a", "running"), ("a", "failed"), ("a", "not run"), ("b", "not run"), ("c", "not run")}
