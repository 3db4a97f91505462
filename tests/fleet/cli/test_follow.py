"""A job is followed to its end: what is printed meanwhile and then, and the exit code."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, cast

import pytest
from msgspec import to_builtins
from tests.fleet.view.samples import JID, body, state

from saltern.cli import exits
from saltern.cli.follow import Followed, Shown, follow_job, new_followed
from saltern.cli.on import start_job
from saltern.cli.worst import ASCENDING, CODES, code_of, worst
from saltern.fleet.client.client import Client
from saltern.fleet.client.follow import ignore
from saltern.fleet.client.problems import ControllerError, Unreachable
from saltern.fleet.protocol.notices import (
    AnyNotice,
    JobEnded,
    Missed,
    Progressed,
    Returned,
    StatusChanged,
)
from saltern.language.diagnostics import Diagnostic

Heard = AnyNotice | BaseException
FINE, BAD = body(state("a", 0, changes={"x": 1})), body(state("nginx", 0, False, "unit not found"))


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


class Controller:
    """Answers as a controller would that has seen these notices; ``bodies`` are the returns."""

    def __init__(self, systems: Sequence[str], heard: Sequence[Heard], **bodies: object) -> None:
        self.rows = {one: _row(one) for one in systems}
        self.heard, self.bodies = [*heard], bodies
        self.cancelled: list[bool] = []

    def targets(self, _jid: str) -> Iterator[dict[str, Any]]:
        yield from map(dict, self.rows.values())

    def returns(self, _jid: str) -> Iterator[dict[str, Any]]:
        yield from ({**self.rows[system], "body": value} for system, value in self.bodies.items())

    def system_return(self, _jid: str, system: str) -> dict[str, Any]:
        return {**self.rows[system], "body": self.bodies[system]}

    def cancel(self, _jid: str, *, hard: bool = False) -> dict[str, Any]:
        self.cancelled.append(hard)
        return {}

    @property
    def jobs(self) -> Controller:
        return self

    def follow(
        self, _jid: str, *, after: int | None, on_break: Callable[[ControllerError], None]
    ) -> Iterator[dict[str, Any]]:
        assert after is not None and callable(on_break)
        while self.heard:
            one = self.heard.pop(0)
            if isinstance(one, BaseException):
                raise one
            if isinstance(one, StatusChanged):
                names = ("status", "why", "exit_code", "changed", "failed")
                self.rows[one.system] |= {name: getattr(one, name) for name in names}
            yield to_builtins(one)

    def job(self, function: str = "state.apply", **values: object) -> Followed:
        submitted = {"jid": JID, "expected": [*self.rows], "away": {}, "expires": 4e9, "cursor": 1, **values}
        return new_followed(submitted, {"function": function})


def _row(system: str) -> dict[str, Any]:
    zero = dict.fromkeys(("updated", "exit_code", "changed", "failed"), 0)
    return {"jid": JID, "system": system, "status": "queued", "why": "", "back_by": None, **zero}


def status(system: str, word: str, **values: Any) -> StatusChanged:
    return StatusChanged(jid=JID, system=system, status=word, **values)


def test_it_ends_when_all_have_ended_and_the_worst_counts(capsys: pytest.CaptureFixture[str]) -> None:
    failure = Progressed(
        jid=JID, system="b", state="service.running nginx", outcome="failed", comment="no unit"
    )
    heard: list[Heard] = [
        status("a", "returned", changed=1),
        failure,
        status("b", "failed", exit_code=2, failed=1),
    ]
    jobs = Controller(["a", "b"], heard, a=FINE, b=BAD)
    assert follow_job(jobs, jobs.job(), Shown()) == exits.FAILED
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "2 systems: 1 failed, 1 changed"
    assert err.splitlines() == [
        f"saltern: job {JID} on 2 systems",
        "● a: 1 state changed",
        "✗ b: service.running nginx – no unit",
    ]


def test_a_failure_without_progress_is_looked_up(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = Controller(["b"], [status("b", "failed", exit_code=2, failed=1)], b=BAD)
    assert follow_job(jobs, jobs.job(), Shown()) == exits.FAILED
    assert "✗ b: service.running nginx – unit not found (web/init.sls:14)" in capsys.readouterr().err


def test_those_that_are_away_are_named_and_not_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = Controller(["a", "b"], [status("a", "returned")], a=True)
    code = follow_job(jobs, jobs.job("test.ping", away={"b": None}), Shown())
    assert code == exits.AWAY
    out, err = capsys.readouterr()
    assert "1 away: b never seen; queued until" in err
    assert out == "a:\n    True\n1 away (b)\n2 systems: 1 without an answer, 1 answered\n"


def test_they_are_waited_for_if_that_is_asked_for() -> None:
    jobs = Controller(["a"], [status("a", "running"), status("a", "returned")], a=True)
    assert follow_job(jobs, jobs.job("test.ping", away={"a": None}), Shown(patient=True)) == exits.OK


def test_those_that_are_left_out_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = Controller(["a"], [status("a", "returned")], a=True)
    assert follow_job(jobs, jobs.job("test.ping", away={"z": None}), Shown()) == exits.OK
    assert "1 away and left out: z never seen" in capsys.readouterr().err


class Begun:
    """What the request that started the job has brought so far, before its connection breaks."""

    def __init__(self, jobs: Controller) -> None:
        self.on_break: Callable[[ControllerError], None] = ignore
        self.jobs = jobs
        self.closed = False

    def notices(self) -> Iterator[dict[str, Any]]:
        return self.jobs.follow(JID, after=0, on_break=self.on_break)

    def close(self) -> None:
        self.closed = True


def test_notices_of_a_job_that_nothing_is_left_to_wait_for_are_not_kept_open() -> None:
    jobs = Controller(["a"], [])
    job = jobs.job("test.ping", away={"a": None})
    begun = job.begun = Begun(jobs)
    assert follow_job(jobs, job, Shown()) == exits.AWAY
    assert begun.closed


@pytest.mark.parametrize("sent", [2, 1])
def test_returns_that_came_with_the_job_are_not_fetched(
    sent: int, capsys: pytest.CaptureFixture[str]
) -> None:
    fetched = []

    class Jobs(Controller):
        def returns(self, jid: str) -> Iterator[dict[str, Any]]:
            fetched.append(jid)
            return super().returns(jid)

    statuses: list[Heard] = [status("a", "returned"), status("b", "returned")]
    bodies = [Returned(jid=JID, system=one, status="returned", body=one.upper()) for one in ("a", "b")]
    jobs = Jobs(["a", "b"], [*statuses, *bodies[:sent], JobEnded(jid=JID, returns=2)], a="A", b="B")
    job = jobs.job("test.arg")
    job.begun = Begun(jobs)
    assert follow_job(jobs, job, Shown(out="json")) == exits.OK
    assert json.loads(capsys.readouterr().out) == {"a": "A", "b": "B"}
    assert fetched == ([] if sent == 2 else [JID])


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), Unreachable(Diagnostic(code="x", what="gone"))])
def test_a_job_of_which_only_the_output_is_missing_does_not_continue(
    problem: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = Controller(["a"], [status("a", "returned"), problem], a="A")
    job = jobs.job("test.arg")
    job.begun = Begun(jobs)
    with pytest.raises(type(problem)):
        follow_job(jobs, job, Shown())
    err = capsys.readouterr().err
    assert f"job {JID} has ended; `saltern job {JID}` shows what it returned" in err
    assert "continues" not in err


def test_lines_of_json_are_alone_on_standard_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = Controller(["a"], [status("a", "returned")], a="A")
    monkeypatch.setattr(sys, "stderr", None)  # as with 2>&-
    assert follow_job(jobs, jobs.job("test.arg"), Shown(out="jsonl")) == exits.OK
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["submitted", "return", "finished"]


def test_what_was_missed_is_looked_up() -> None:
    jobs = Controller(["a"], [Missed(count=3)], a=True)
    jobs.rows["a"] |= {"status": "returned"}
    assert follow_job(jobs, jobs.job("test.ping"), Shown()) == exits.OK


def test_an_interrupt_without_a_terminal_leaves_it_running(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = Controller(["a"], [KeyboardInterrupt()])
    assert follow_job(jobs, jobs.job(), Shown()) == exits.INTERRUPTED
    out, err = capsys.readouterr()
    assert out == "" and not jobs.cancelled
    assert f"job {JID} continues; `saltern job {JID} --follow` shows it" in err


@pytest.mark.parametrize("out", ["grouped", "quiet"])
def test_an_interrupt_before_the_job_is_known_says_so(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    class Waiting:
        def start(self, **_ask: object) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        start_job(cast(Client, Waiting()), {}, out)
    said = "saltern: it is not known whether the job has begun; `saltern jobs` lists it if it has\n"
    assert capsys.readouterr().err == (said if out != "quiet" else "")


def test_a_controller_that_is_gone_leaves_it_running_too(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = Controller(["a"], [Unreachable(Diagnostic(code="controller-unreachable", what="gone"))])
    with pytest.raises(Unreachable):
        follow_job(jobs, jobs.job(), Shown())
    assert f"job {JID} continues" in capsys.readouterr().err


def test_lines_of_json_come_as_it_happens(capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[AnyNotice] = [
        Progressed(jid=JID, system="a", done=1, total=2, state="x"),
        status("a", "returned"),
    ]
    jobs = Controller(["a"], heard, a=FINE)
    assert follow_job(jobs, jobs.job(), Shown(out="jsonl")) == exits.OK
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines] == ["submitted", "progress", "return", "finished"]
    assert lines[2]["return"] == FINE["local"]
    assert lines[3]["exit_code"] == exits.OK


def test_the_detailed_exit_code_says_that_something_changed() -> None:
    jobs = Controller(["a"], [status("a", "returned", changed=2)], a=FINE)
    assert follow_job(jobs, jobs.job(), Shown(detailed=True)) == exits.CHANGED


def test_every_code_has_a_rank_and_every_status_a_code() -> None:
    assert sorted(ASCENDING) == sorted(exits.EXITS)
    assert set(CODES.values()) <= set(ASCENDING)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [([], 0), ([0, 4], 4), ([2, 4, 0], 2), ([3, 2], 3), ([0, 7, 2], 2), ([1, 3], 1), ([99, 130], 99)],
)
def test_the_worst_code_counts(codes: list[int], expected: int) -> None:
    assert worst(codes) == expected


def test_a_failure_without_a_code_is_a_failure() -> None:
    assert code_of("failed", 0) == exits.FAILED
    assert code_of("failed", exits.COMPILE) == exits.COMPILE
    assert code_of("returned", exits.REBOOTING) == exits.REBOOTING


def test_the_question_can_be_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal Ctrl-C asks: no answer watches on, ``c`` cancels the job and follows it to its end."""
    primary, secondary = os.openpty()
    heard: list[Heard] = [KeyboardInterrupt(), KeyboardInterrupt(), status("a", "cancelled")]
    jobs = Controller(["a"], heard)
    with open(secondary, "w") as screen, open(os.dup(secondary)) as keys:
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr(sys, "stdin", keys)
        os.write(primary, b"x\nc\n")
        assert follow_job(jobs, jobs.job(), Shown()) == exits.INTERRUPTED
        seen = _read(primary)
    assert jobs.cancelled == [False]
    assert seen.count("[l]eave it running, [c]ancel it, or [w]atch on?") == 2
    assert "asked to end after the current state" in seen


def _read(terminal: int) -> str:
    """All that was written to a terminal."""
    os.set_blocking(terminal, False)
    found = b""
    with suppress(BlockingIOError):
        while piece := os.read(terminal, 65536):
            found += piece
    os.close(terminal)
    return found.decode()
