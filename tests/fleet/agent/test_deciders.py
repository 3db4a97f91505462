"""What an agent decides: which jobs it takes, which begin, and what becomes of those that broke."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.agent.intake import Accept, Ignore, Refuse, Standing, decide, denied_by
from saltern.fleet.agent.queue import plan_queue
from saltern.fleet.agent.recovery import MOST, Todo, Trace
from saltern.fleet.agent.recovery import decide as recover
from saltern.fleet.agent.spool import RUNNING, WAITING, Entry, Open
from saltern.fleet.protocol.messages import Job

NOW = 1_000_000.0
FULL = "the disk is full"


def job(function: str = "pkg.install", **more: object) -> Job:
    return Job(jid="j1", function=function, **more)  # type: ignore[arg-type]


INTAKE = {
    "new": (job(), Standing(), Accept(due=NOW)),
    "known": (job(), Standing(known=True), Ignore("it is known already")),
    "known and denied": (job(), Standing(known=True, denied=("*",)), Ignore("it is known already")),
    "denied": (job(), Standing(denied=("x.y", "pkg.*")), Refuse),
    "draining": (job(), Standing(draining=FULL), Refuse(FULL)),
    "a ping while draining": (job("test.ping"), Standing(draining=FULL), Accept(due=NOW)),
    "a ping that is denied": (job("test.ping"), Standing(denied=("*",)), Refuse),
    "older than the spool": (job(), Standing(born=NOW), Ignore),
    "splayed": (job(splay=30.0), Standing(), Accept(due=NOW + 15)),
}


@pytest.mark.parametrize("name", INTAKE)
def test_takes_refuses_or_ignores_a_job(name: str) -> None:
    one, standing, expected = INTAKE[name]
    found = decide(one, standing, issued=NOW - 10, now=NOW, live=True, chance=0.5)
    assert found == expected or (isinstance(expected, type) and isinstance(found, expected))


def test_what_a_controller_sends_as_missed_may_be_older_than_the_spool() -> None:
    found = decide(job(), Standing(born=NOW), issued=NOW - 10, now=NOW, live=False)
    assert isinstance(found, Accept)


@pytest.mark.parametrize("function", ["state.apply", "state.sls", "state.highstate"])
def test_a_denied_name_of_apply_denies_all_its_names(function: str) -> None:
    assert denied_by(job(function), ("state.highstate",))


def test_a_denied_function_cannot_be_called_as_a_single_state() -> None:
    assert denied_by(job("state.single", args=["cmd.run"]), ("cmd.*",))
    assert denied_by(job("state.single", kwargs={"fun": "cmd.run"}), ("cmd.*",))
    assert not denied_by(job("state.single", args=["file.touch"]), ("cmd.*",))


# -- the queue -------------------------------------------------------------------------------------


def entry(jid: str, *, changing: bool = True, after: str | None = None, **more: Any) -> Open:
    values = {"state": WAITING, "due": 0.0, "expires": NOW + 10, "cancel": "", **more}
    return Open(jid=jid, changing=int(changing), after=after or "", **values)


QUEUE = {
    "one": ([entry("a")], ["a"]),
    "changing ones one after the other": ([entry("a"), entry("b")], ["a"]),
    "one runs": ([entry("a", state=RUNNING), entry("b")], []),
    "questions beside": (
        [entry("a", state=RUNNING), entry("q", changing=False), entry("r", changing=False)],
        ["q", "r"],
    ),
    "after one that runs": ([entry("a", changing=False, state=RUNNING), entry("b", after="a")], []),
    "after one that waits": ([entry("b", after="a"), entry("a")], ["a"]),
    "after one that has ended": ([entry("b", after="gone")], ["b"]),
    "not due yet": ([entry("a", due=NOW + 5), entry("b")], ["b"]),
}


@pytest.mark.parametrize("name", QUEUE)
def test_begins_what_may_run_now(name: str) -> None:
    entries, begin = QUEUE[name]
    assert list(plan_queue(entries, now=NOW).begin) == begin


def test_wakes_when_a_splayed_job_is_due_and_reports_what_is_over() -> None:
    entries = [
        entry("s", due=NOW + 5),
        entry("c", cancel="soft"),
        entry("e", expires=NOW - 1),
    ]
    step = plan_queue(entries, now=NOW)
    assert (step.wake, step.cancelled, step.expired, step.begin) == (NOW + 5, ("c",), ("e",), ())
    assert plan_queue(entries, now=NOW, reported={"c", "e"}).cancelled == ()


ENTRIES = st.lists(
    st.builds(
        lambda changing, after, due, expires, cancel: (changing, after, due, expires, cancel),
        st.booleans(),
        st.sampled_from([None, "0", "1", "2", "x"]),
        st.sampled_from([0.0, NOW + 1]),
        st.sampled_from([NOW - 1, NOW + 10]),
        st.sampled_from(["", "", "soft", "hard"]),
    ),
    max_size=8,
)


@given(ENTRIES, st.booleans())
def test_the_queue_never_runs_two_changing_jobs_and_never_stops(rows: list[Any], first_runs: bool) -> None:
    """Whatever waits: at most one changing job runs, each is in one list, and the queue drains to its end."""
    left = [
        entry(
            str(number),
            changing=changing,
            state=RUNNING if first_runs and not number else WAITING,
            after=None if after == str(number) else after,
            due=due,
            expires=expires,
            cancel=cancel,
        )
        for number, (changing, after, due, expires, cancel) in enumerate(rows)
    ]
    now = NOW
    for _ in range(3 * len(rows) + 3):
        step = plan_queue(left, now=now)
        chosen = [*step.begin, *step.cancelled, *step.expired]
        assert len(chosen) == len(set(chosen))
        begun = {one.jid for one in left if one.state == RUNNING} | set(step.begin)
        assert sum(one.changing for one in left if one.jid in begun) <= 1
        left = [one for one in left if one.jid not in chosen and one.state != RUNNING]
        now = step.wake + 0.001 if step.wake is not None and not chosen else now
    assert not left


# -- recovery --------------------------------------------------------------------------------------

RECOVERY = {
    "the worker lives": (Trace(alive=True, begun=1), "rerun", 1, Todo.FOLLOW),
    "it lives and has an outcome of before": (Trace(alive=True, ended=True), "rerun", 1, Todo.FOLLOW),
    "it has ended": (Trace(ended=True, begun=1), "report", 1, Todo.COLLECT),
    "it never began": (Trace(), "report", 1, Todo.CONTINUE),
    "the second attempt never began": (Trace(begun=1), "report", 2, Todo.CONTINUE),
    "it was killed and may be repeated": (Trace(begun=1), "rerun", 1, Todo.CONTINUE),
    "it was killed and may not": (Trace(begun=1), "report", 1, Todo.REPORT),
    "it waits for a reboot": (Trace(begun=1, paused="reboot"), "report", 1, Todo.CONTINUE),
    "it waits for a reboot again": (Trace(begun=MOST, paused="reboot"), "rerun", MOST, Todo.CONTINUE),
    "it is killed again and again": (Trace(begun=MOST), "rerun", MOST, Todo.GIVE_UP),
}


@pytest.mark.parametrize("name", RECOVERY)
def test_a_job_that_broke_is_followed_collected_continued_or_reported(name: str) -> None:
    trace, on_interrupt, attempt, todo = RECOVERY[name]
    one = Job(jid="j", function="cmd.run", on_interrupt=on_interrupt)  # type: ignore[arg-type]
    found = Entry(jid="j", state=RUNNING, job=one, received=0, due=0, expires=NOW, attempt=attempt)
    assert recover(found, trace) is todo


def test_a_chain_is_taken_where_only_functions_that_its_actions_call_are_denied() -> None:
    for function in ("chain.run", "chain.leg"):
        chain = job(function, kwargs={"text": "", "file": "c.yaml"})
        assert denied_by(chain, ("cmd.*", "system.reboot")) == ""
        assert denied_by(chain, ("chain.*",)) == "chain.*"
