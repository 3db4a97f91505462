"""A night of patching: twenty systems, a canary, waves, approvals, a window, one that never returns and one
that fails its health check. What is shown at each moment is enough to act on.

The chain, the rollout and the window are those of examples/nightly.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.controller.chain_kit import leg_agent, legs, order, rounds, start
from tests.fleet.controller.kit import JOE, Bench, running_bench
from tests.fleet.harness import run

from saltern.chains.document import read_chain
from saltern.chains.statuses import Step
from saltern.config.files import mapping
from saltern.fleet.calendars.ical import read_calendar
from saltern.fleet.calendars.windows import Calendar, may_begin
from saltern.fleet.controller.chains import views
from saltern.fleet.controller.chains.gates import Ballot, Voter
from saltern.fleet.store.calendars import StoredCalendar, set_calendar
from saltern.fleet.view import chain_run
from saltern.language.diagnostics import OperationError

EXAMPLE = Path(__file__).parents[3] / "examples" / "nightly"
CHAIN = (EXAMPLE / "nightly.yaml").read_text()
GOES_DOWN = {"status": "rebooting", "down_in": 10.0, "back_in": 30.0}
NIGHTS = (EXAMPLE / "nights.ics").read_text()


def shown(bench: Bench, name: str) -> str:
    """What ``saltern chain show RUN`` prints."""
    with bench.database.read() as connection:
        found = views.show_run(connection, name)
    assert found is not None
    return "\n".join(chain_run.run_lines(found, bench.clock()))


def listing(bench: Bench) -> list[dict[str, Any]]:
    """What ``saltern chain runs`` prints."""
    with bench.database.read() as connection:
        return views.list_runs(connection, chain="", is_open=False, before="", limit=5)


def window(bench: Bench, *, is_open: bool) -> None:
    """The nights of the example, which may be now or not; without them, it is always open."""
    now = datetime.fromtimestamp(bench.clock(), UTC)
    day = now.replace(hour=now.hour if is_open else (now.hour + 12) % 24, minute=0, second=0)
    text = NIGHTS.replace("20260101T220000", f"20260101T{day:%H}0000").replace(
        "20260102T060000", f"202601{'01' if day.hour < 22 else '02'}T{(day.hour + 2) % 24:02}0000"
    )
    one = StoredCalendar(
        name="nights", kind="allow", text=text, zone="UTC", target="web*", note="", author="joe", changed=1.0
    )
    with bench.database.write() as connection:
        set_calendar(connection, one)


def test_the_files_of_the_example_are_read() -> None:
    chain = read_chain(CHAIN, "nightly.yaml")
    assert [one.id for one in chain.actions] == ["drain", "patch", "reboot", "health"]
    nights = Calendar(name="nights", kind="allow", events=read_calendar(NIGHTS, "UTC"))
    at = datetime(2026, 11, 16, 23, 30, tzinfo=UTC).timestamp()
    assert may_begin([nights], at).open and not may_begin([nights], at + 9 * 3600).open


async def approve(bench: Bench, name: str, gate: str, digest: str) -> None:
    with pytest.raises(OperationError, match="cannot approve"):
        await bench.fleet.chains.vote(Voter(JOE.name), name, gate, Ballot(approves=True, plan_sha256=digest))
    await bench.fleet.chains.vote(Voter("ann"), name, gate, Ballot(approves=True, plan_sha256=digest))


async def night(bench: Bench) -> None:
    names = [f"web{number:02}" for number in range(1, 21)]
    agents = {name: await leg_agent(bench, name) for name in names}
    lost, ill = agents["web04"], agents["web09"]
    lost.holds = True  # it goes down for its reboot, and never comes back
    ill.results = {"health": Step.FAILED}
    ill.says = {"health": {"exit_code": 7, "output": {"stderr": "503 Service Unavailable\n"}}}
    window(bench, is_open=False)
    rollout: dict[str, Any] = {
        str(key): value for key, value in mapping(str(EXAMPLE / "rollout.yaml")).items()
    }
    rollout |= {"leg_time": 10_000.0, "grace": 5.0}
    made = await start(bench, CHAIN, rollout=rollout)

    # It is day.
    await rounds(bench)
    assert not any(agent.jobs for agent in agents.values())
    text = shown(bench, made.run)
    assert f"run {made.run}: scheduled" in text
    assert "20 systems wait for a window: no window of nights is open; next " in text
    assert ": pending: no window of nights is open; next " in text
    assert "approve" not in text, "nothing can be done about it now"
    (listed,) = listing(bench)
    assert listed["why"].startswith("waits for a window: no window of nights is open; next ")
    ends = datetime.fromtimestamp(bench.clock() + rollout["deadline"], UTC)
    assert f"; the run ends before that, at {ends:%Y-%m-%d}" in text, "so it would never begin"
    assert f"saltern chain cancel {made.run} ends it; begin another with a longer --deadline" in text

    # Night falls: the canary, and then the first gate.
    window(bench, is_open=True)
    await rounds(bench, 10)
    assert Counter(legs(bench, made.run).values()) == {"succeeded": 1, "pending": 19}
    text = shown(bench, made.run)
    assert "waits for approval of gate 'wave 2'" in text
    assert f"saltern chain approve {made.run} 'wave 2' approves it" in text
    await approve(bench, made.run, "wave 2", made.plan_sha256)

    # The second wave: one of it is down.
    await rounds(bench, 10)
    assert "waits for web04: sent, not answered yet" in shown(bench, made.run)
    (job,) = lost.waiting
    node = lost.node(job)
    node.work()
    node.work()
    bench.chain_keeper.on_progress(job.jid, "web04", {**lost.report(node), **GOES_DOWN})
    await rounds(bench)
    assert "web04: rebooting at reboot" in shown(bench, made.run)
    assert "waits for" not in shown(bench, made.run)
    bench.board.found([], ["web04"])
    await rounds(bench)
    text = shown(bench, made.run)
    assert "waits for web04: down, to be back by " in text
    assert "web04: rebooting at reboot, away since " in text and ", to be back by " in text
    assert f"saltern chain unlock {made.run} --system web04 stops waiting" in text
    assert Counter(legs(bench, made.run).values())["succeeded"] == 5

    # It does not come back. That is one failure, which the rollout allows, so the last wave may begin.
    lost.deaf = True
    bench.clock.ahead = 50.0
    await rounds(bench)
    text = shown(bench, made.run)
    assert "web04: expired at reboot: it did not come back: it has been away for 5" in text
    assert "waits for approval of gate 'wave 3'" in text
    await approve(bench, made.run, "wave 3", made.plan_sha256)
    await rounds(bench, 20)

    # The last wave: one fails its check. Two failures are more than the rollout allows: the rest waits.
    found = Counter(legs(bench, made.run).values())
    assert (found["failed"], found["expired"]) == (1, 1) and found["pending"] > 0, found
    text = shown(bench, made.run)
    assert f"run {made.run}: halted" in text and "systems failed, more than 1: web04, web09" in text
    assert "web09: failed at health: exit code 7: 503 Service Unavailable" in text
    assert f"saltern chain resume {made.run} --despite-failures continues" in text
    assert f"saltern chain log {made.run} web09 health has what it printed" in text

    # An operator has looked at both, and lets the rest begin.
    await order(bench, made.run, "resume", despite_failures=True)
    await rounds(bench, 20)
    found = Counter(legs(bench, made.run).values())
    assert found == {"succeeded": 18, "failed": 1, "expired": 1}, found
    text = shown(bench, made.run)
    assert f"run {made.run}: partial" in text
    assert f"saltern chain retry {made.run} runs again what has not succeeded" in text

    # In the morning: the check is repaired, the lost one is back; both are retried in the same run.
    ill.results = {}
    lost.deaf = lost.holds = False
    bench.board.heard("web04")
    await order(bench, made.run, "retry")
    await lost.let_go()
    await rounds(bench, 20)
    assert Counter(legs(bench, made.run).values())["succeeded"] >= 19


def test_a_night_of_patching(tmp_path: Path) -> None:
    async def whole() -> None:
        async with running_bench(tmp_path) as bench:
            bench.board.is_known = True
            await night(bench)

    run(whole(), timeout=120)
