"""Runs of chains under faults: the numbered tests of network, controller and control (32 to 60).

Systems are played on the bus in memory; the controller is the real one, without its process. The numbers are
those of the list of fault injection tests in docs/internals/chain-tests.md.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest
from msgspec import convert, json
from sqlalchemy import update
from tests.fleet.controller.chain_kit import (
    TWO,
    LegAgent,
    allow,
    counted_writes,
    leg_agent,
    legs,
    matrix,
    on_bench,
    order,
    rounds,
    start,
    status,
    take_missed,
)
from tests.fleet.controller.kit import Bench

from saltern.chains.statuses import Step
from saltern.fleet.bus.ports import BusError
from saltern.fleet.chains.control import Order
from saltern.fleet.chains.rollout import Rollout
from saltern.fleet.controller.chains import views
from saltern.fleet.controller.chains.desk import NewRun
from saltern.fleet.controller.chains.gates import Ballot, Voter
from saltern.fleet.controller.chains.publisher import Publisher
from saltern.fleet.controller.singleton import LeaseLost
from saltern.fleet.store import chain_outbox, chain_runs
from saltern.fleet.store.chains import chain_named, set_archived
from saltern.fleet.store.tables import LEASES
from saltern.language.diagnostics import OperationError
from saltern.system.clock import stamp

EDITED = TWO.replace("id: b", "id: c")
PAUSES = (
    "chain: two\nactions:\n  - {id: a, command: 'true', on_failure: pause}\n  - {id: b, command: 'true'}\n"
)


async def fleet(bench: Bench, number: int, **results: Step) -> list[LegAgent]:
    return [await leg_agent(bench, f"s{at}", **results) for at in range(number)]


def code(problem: pytest.ExceptionInfo[OperationError]) -> str:
    return problem.value.diagnostics[0].code


# -- network and controller ---------------------------------------------------------------------------


@on_bench
async def test_32_reports_that_come_again_late_and_mixed_up_change_nothing(bench: Bench) -> None:
    (one,) = await fleet(bench, 1)
    made = await start(bench)
    await rounds(bench)
    (job,) = one.jobs
    for _ in range(100):
        await one.answer(job)
    for old in ({"status": "running", "seq": 0}, {"status": "failed", "seq": 1}):
        body: dict[str, Any] = {**one.report(one.node(job)), **old}
        bench.chain_keeper.on_progress(job.jid, "s0", body)
        await rounds(bench, 2)
    assert (legs(bench, made.run), status(bench, made.run)) == ({"s0": "succeeded"}, "succeeded")


@on_bench
async def test_33_a_result_after_the_deadline_corrects_the_status(bench: Bench) -> None:
    (one,) = await fleet(bench, 1)
    one.holds = True
    made = await start(bench, rollout={"deadline": 100, "grace": 10})
    await rounds(bench)
    one.deaf = True  # the order to end is lost
    bench.clock.ahead = 120.0
    await rounds(bench)
    assert (legs(bench, made.run), status(bench, made.run)) == ({"s0": "expired"}, "expired")
    await one.let_go()
    await rounds(bench)
    assert (legs(bench, made.run), status(bench, made.run)) == ({"s0": "succeeded"}, "succeeded")
    assert f"saltern/chain/{made.run}/note" in bench.tags()


@on_bench
async def test_33_a_system_that_is_away_is_no_failure_and_gets_its_leg_when_it_is_back(bench: Bench) -> None:
    one, two = await fleet(bench, 2)
    two.silent = True
    made = await start(bench, rollout={"max_failures": 0})
    await rounds(bench)
    bench.board.found({}, {"s1"})
    await rounds(bench)
    with bench.database.read() as connection:
        away = {row["system"]: row["away"] for row in chain_runs.leg_rows(connection, made.run)}
    assert (away, status(bench, made.run)) == ({"s0": False, "s1": True}, "running")
    bench.board.heard("s1")
    two.silent = False
    await two.finish(two.jobs[0])
    await rounds(bench)
    assert status(bench, made.run) == "succeeded"
    assert one.nodes[made.run].trace == two.nodes[made.run].trace == [0, 1]


@pytest.mark.parametrize("edge", ["before the job is written", "before it is sent"])
def test_34_what_a_round_left_when_it_was_killed_is_done_by_the_next_one(
    edge: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    @on_bench
    async def scenario(bench: Bench) -> None:
        (one,) = await fleet(bench, 1)
        made = await start(bench)

        async def die(*_words: object) -> None:
            raise Killed

        with monkeypatch.context() as patch:
            if edge == "before the job is written":
                patch.setattr(Publisher, "publish", die)
            else:
                patch.setattr(bench.dispatcher, "push", die)
            with pytest.raises(Killed):
                await bench.keep_house("chains")
        assert not one.jobs
        for _ in range(6):
            await bench.keep_house("chains")
            if not one.jobs:
                answer = await one.sync()
                await take_missed(one, answer)
            await bench.index()
        assert status(bench, made.run) == "succeeded"
        assert one.nodes[made.run].trace == [0, 1]

    scenario(tmp_path)


@on_bench
async def test_34_a_controller_of_yesterday_learns_what_its_systems_did_since(bench: Bench) -> None:
    """The backup knows of one order; the system has had five, and works on."""
    (one,) = await fleet(bench, 1)
    one.holds = True
    made = await start(bench)
    await rounds(bench)
    one.nodes[made.run].number = 5
    await order(bench, made.run, "pause")
    await rounds(bench)
    assert one.nodes[made.run].verb == "pause"  # it was ordered again, with a number that counts
    await order(bench, made.run, "resume")
    await one.let_go()
    await rounds(bench, 8)
    assert (status(bench, made.run), one.nodes[made.run].trace) == ("succeeded", [0, 1])


@pytest.mark.parametrize(("leg_time", "until"), [(None, 110.0), (50, 60.0)])
def test_33_a_run_says_until_when_it_waits_for_a_system_that_is_away(
    leg_time: float | None, until: float, tmp_path: Any
) -> None:
    @on_bench
    async def scenario(bench: Bench) -> None:
        (one,) = await fleet(bench, 1)
        one.holds = True
        rollout = {"deadline": 100, "grace": 10, "leg_time": leg_time}
        made = await start(bench, rollout=rollout)
        await rounds(bench)
        bench.board.found({}, {one.id})
        await rounds(bench)
        with bench.database.read() as connection:
            shown = views.show_run(connection, made.run)
            (leg,) = chain_runs.leg_rows(connection, made.run)
        assert shown is not None
        begin = leg["begun"] if leg_time else shown["deadline"] - 100
        assert shown["why"] == f"waits for s0: not connected; until {stamp(begin + until)} UTC"

    scenario(tmp_path)


@on_bench
async def test_34_a_report_that_came_before_a_round_which_failed_is_taken_in_by_the_next_one(
    bench: Bench,
) -> None:
    """The system sends a report again only when half a minute has passed."""
    (one,) = await fleet(bench, 1)
    one.holds = True
    other = Bench(bench.database, bench.memory, "c2")
    made = await start(bench)
    await rounds(bench)
    (job,) = one.jobs
    one.nodes[made.run].work()
    bench.chain_keeper.on_progress(job.jid, one.id, one.report(one.nodes[made.run]))
    await lose_lease(bench, other)
    with pytest.raises(LeaseLost):
        await bench.keep_house("chains")
    assert matrix(bench, made.run) == {"s0": {"a": "not run", "b": "not run"}}
    bench.singletons["chains"].fence = None  # as its loop does then
    await lose_lease(other, bench)
    assert matrix(bench, made.run) == {"s0": {"a": "succeeded", "b": "not run"}}


async def lose_lease(loser: Bench, winner: Bench) -> None:
    """One controller hangs for longer than its lease, and another takes over."""
    with loser.database.write() as connection:
        connection.execute(update(LEASES).values(expires=0.0))
    assert await winner.keep_house("chains")


@on_bench
async def test_35_a_controller_that_has_lost_its_lease_writes_nothing_and_the_next_continues(
    bench: Bench,
) -> None:
    """It was about to decide when the other one took over: what it would write is refused as a whole."""
    (one,) = await fleet(bench, 1)
    one.holds = True
    other = Bench(bench.database, bench.memory, "c2")
    other.board.is_known = True
    other.board.heard(one.id)
    made = await start(bench)
    await rounds(bench)
    await lose_lease(bench, other)
    await order(bench, made.run, "pause")
    with pytest.raises(LeaseLost):
        await bench.keep_house("chains")
    assert len(one.jobs) == 1
    for _ in range(6):
        await other.keep_house("chains")
        await other.bus.flush()
        await other.index()
    assert one.nodes[made.run].verb == "pause", "ordered once, by the one that leads"
    assert len({job.jid for job in one.jobs}) == len(one.jobs) == 2
    assert len({job.kwargs["order"] for job in one.jobs}) == 2, "the higher number counts"


@on_bench
async def test_35_only_the_controller_that_holds_the_lease_decides(bench: Bench) -> None:
    (one,) = await fleet(bench, 1)
    other = Bench(bench.database, bench.memory, "c2")
    made = await start(bench)
    assert await bench.keep_house("chains")
    assert not await other.keep_house("chains")
    await rounds(bench)
    assert status(bench, made.run) == "succeeded"
    assert len(one.jobs) == 1


@on_bench
async def test_36_the_same_request_twice_is_one_run(bench: Bench) -> None:
    (one,) = await fleet(bench, 1)
    made = await asyncio.gather(*(start(bench, client_token="a" * 20) for _ in range(5)))
    assert len({each.run for each in made}) == 1
    await rounds(bench)
    assert len(one.jobs) == 1


@on_bench
async def test_37_many_systems_that_report_at_once_are_taken_in_few_transactions(bench: Bench) -> None:
    needed = {}
    for name, number in {"few": 5, "many": 200}.items():
        agents = [await leg_agent(bench, f"{name}{at}") for at in range(number)]
        with counted_writes(bench) as written:
            made = await start(bench, target=f"{name}*")
            await rounds(bench)
        assert Counter(legs(bench, made.run).values()) == {"succeeded": number}
        assert len({job.jid for agent in agents for job in agent.jobs}) == 1  # one job for all of them
        needed[name] = written["transactions"]
    assert needed["few"] >= 2 and needed["many"] <= needed["few"] + 5, needed


@on_bench
async def test_38_a_report_that_cannot_be_read_leaves_the_leg_in_doubt(bench: Bench) -> None:
    one, two = await fleet(bench, 2)
    one.silent = True
    made = await start(bench)
    await rounds(bench)
    await one.give(one.jobs[0].jid, body=b'{"steps": 7, "status": "\\u0000"}', size=30)
    await rounds(bench)
    assert legs(bench, made.run) == {"s0": "indeterminate", "s1": "succeeded"}
    assert two.nodes[made.run].trace == [0, 1]


@on_bench
async def test_38_text_that_no_database_takes_is_stored_without_it(bench: Bench) -> None:
    (one,) = await fleet(bench, 1)
    one.silent = True
    made = await start(bench)
    await rounds(bench)
    rows = [{"action": name, "status": "succeeded", "comment": "a\x00b" * 9000} for name in "ab"]
    body = json.encode({"status": "succeeded", "seq": 5, "steps": rows})
    await one.give(one.jobs[0].jid, body=body, size=len(body))
    await rounds(bench)
    assert legs(bench, made.run) == {"s0": "succeeded"}


@on_bench
async def test_40_what_was_started_while_no_round_was_done_is_begun_by_the_next(bench: Bench) -> None:
    await fleet(bench, 2)
    made = [await start(bench) for _ in range(3)]
    await rounds(bench, 8)
    assert {status(bench, one.run) for one in made} == {"succeeded"}


@on_bench
async def test_40_what_was_started_while_the_bus_was_down_is_begun_when_it_is_back(bench: Bench) -> None:
    """Also what was decided by a controller that started without the bus, and is gone since."""
    agents = await fleet(bench, 2)
    bench.memory.stop()
    first = await start(bench)
    with suppress(BusError):
        await bench.keep_house("chains")
    other = Bench(bench.database, bench.memory, "c2")
    with suppress(BusError):
        await lose_lease(bench, other)
    second = await start(other)
    for _ in range(3):
        with suppress(BusError):
            await other.keep_house("chains")
    assert not any(one.jobs for one in agents)
    bench.memory.start()
    bench.singletons["chains"].fence = None
    with suppress(BusError):
        await lose_lease(other, bench)
    for _ in range(8):
        for one in agents:  # the connection is back: it asks what it has missed
            await take_missed(one, await one.sync())
        await rounds(bench, 2)
    assert {status(bench, one.run) for one in (first, second)} == {"succeeded"}
    for one in agents:
        assert [node.trace for node in one.nodes.values()] == [[0, 1], [0, 1]], "I2"


# -- control ------------------------------------------------------------------------------------------


@on_bench
async def test_44_two_opposite_orders_at_once_have_one_outcome(bench: Bench) -> None:
    agents = await fleet(bench, 3)
    for agent in agents:
        agent.holds = True
    made = await start(bench)
    await rounds(bench)
    await asyncio.gather(*(order(bench, made.run, verb) for verb in ("pause", "cancel", "resume")))
    await rounds(bench)
    for agent in agents:
        await agent.let_go()
    await rounds(bench, 8)
    assert status(bench, made.run) == "cancelled"
    assert set(legs(bench, made.run).values()) == {"cancelled"}
    for agent in agents:
        assert agent.nodes[made.run].status.value == "cancelled"
    with bench.database.read() as connection:
        assert len(chain_runs.order_rows(connection, made.run)) == 3


@pytest.mark.parametrize("verb", ["pause", "resume", "cancel", "retry", "release"])
def test_44_an_order_to_a_leg_that_has_succeeded_changes_nothing(verb: str, tmp_path: Any) -> None:
    @on_bench
    async def scenario(bench: Bench) -> None:
        (one,) = await fleet(bench, 1)
        made = await start(bench)
        await rounds(bench)
        said = await order(bench, made.run, verb, systems=("s0",))
        assert said == {"s0": "nothing to do: it has succeeded"}
        await rounds(bench)
        assert (status(bench, made.run), len(one.jobs)) == ("succeeded", 1)

    scenario(tmp_path)


@on_bench
async def test_44_a_wave_and_one_system_are_paused_and_resumed(bench: Bench) -> None:
    agents = await fleet(bench, 4)
    for agent in agents:
        agent.holds = True
    made = await start(bench, rollout={"max_in_flight": 4})
    await rounds(bench)
    await order(bench, made.run, "pause", waves=(1,))
    await rounds(bench)
    await order(bench, made.run, "resume", systems=("s2",))
    for agent in agents:
        await agent.let_go()
    await rounds(bench, 8)
    assert legs(bench, made.run) == {"s0": "paused", "s1": "paused", "s2": "succeeded", "s3": "paused"}
    await order(bench, made.run, "resume", waves=(1,))
    await rounds(bench, 8)
    assert status(bench, made.run) == "succeeded"


@on_bench
async def test_44_what_an_order_names_and_the_run_does_not_have_is_refused(bench: Bench) -> None:
    await fleet(bench, 1)
    made = await start(bench)
    for wrong in ({"systems": ("lost",)}, {"waves": (2,)}):
        with pytest.raises(OperationError) as problem:
            await order(bench, made.run, "pause", **wrong)
        assert code(problem) == "chain-order"
    for verb in ("skip", "done"):
        with pytest.raises(OperationError):
            await order(bench, made.run, verb)
    with pytest.raises(OperationError) as problem:
        await order(bench, "20200101T000000.000000-000000", "pause")
    assert code(problem) == "chain-run-unknown"


@pytest.mark.parametrize(("verb", "left"), [("skip", "succeeded with skips"), ("done", "succeeded")])
def test_44_a_step_that_failed_is_left_out_or_vouched_for(verb: str, left: str, tmp_path: Any) -> None:
    @on_bench
    async def scenario(bench: Bench) -> None:
        (one,) = await fleet(bench, 1, a=Step.FAILED)
        made = await start(bench)
        await rounds(bench)
        assert matrix(bench, made.run)["s0"] == {"a": "failed", "b": "not run"}
        await order(bench, made.run, verb, step="a", reason="looked at it")
        await rounds(bench)
        assert legs(bench, made.run) == {"s0": left}
        assert one.nodes[made.run].trace == [0, 1]

    scenario(tmp_path)


@on_bench
async def test_46_a_leg_in_quarantine_is_released_before_it_is_retried(bench: Bench) -> None:
    (one,) = await fleet(bench, 1)
    one.silent = True
    made = await start(bench)
    await rounds(bench)
    rows = [{"action": "a", "status": "indeterminate"}, {"action": "b", "status": "not run"}]
    report = {"status": "indeterminate", "seq": 9, "quarantined": True, "steps": rows}
    body = json.encode(report)
    await one.give(one.jobs[0].jid, body=body, size=len(body))
    await rounds(bench)
    said = await order(bench, made.run, "retry", systems=("s0",))
    assert said == {"s0": "nothing to do: it is in quarantine; release it first"}
    assert await order(bench, made.run, "release", systems=("s0",)) == {"s0": "ordered"}
    await rounds(bench)
    assert [job.kwargs["verb"] for job in one.jobs] == ["run", "release"]


@on_bench
async def test_48_the_run_halts_before_the_next_wave_and_says_why(bench: Bench) -> None:
    agents = [await leg_agent(bench, f"s{at}", **({"a": Step.FAILED} if at == 0 else {})) for at in range(3)]
    made = await start(bench, rollout={"canary": 1, "max_failures": 0})
    await rounds(bench, 8)
    assert status(bench, made.run) == "halted"
    assert [len(agent.jobs) for agent in agents] == [1, 0, 0]
    assert await order(bench, made.run, "resume") == {}
    said = await order(bench, made.run, "resume", despite_failures=True)
    assert said["run"] == "halted → running"
    await rounds(bench, 8)
    assert legs(bench, made.run) == {"s0": "failed", "s1": "succeeded", "s2": "succeeded"}


@on_bench
async def test_49_a_target_that_means_nothing_is_refused_before_anything_is_written(bench: Bench) -> None:
    await fleet(bench, 1)
    with pytest.raises(OperationError) as problem:
        await start(bench, target="lost*")
    assert code(problem) == "fleet-target-empty"
    with pytest.raises(OperationError) as problem:
        await start(bench, text=TWO.replace("'true'}", "'true', targets: [other]}"))
    assert code(problem) == "chain-empty"
    with bench.database.read() as connection:
        assert chain_runs.run_rows(connection) == []


@on_bench
async def test_49_a_system_in_two_runs_does_both(bench: Bench) -> None:
    (one,) = await fleet(bench, 1)
    first, second = await start(bench), await start(bench)
    await rounds(bench, 8)
    assert {status(bench, run.run) for run in (first, second)} == {"succeeded"}
    assert set(one.nodes) == {first.run, second.run}


@on_bench
async def test_50_a_gate_counts_votes_of_others_on_the_plan_as_it_is_in_time(bench: Bench) -> None:
    (one,) = await fleet(bench, 1)
    made = await start(bench, rollout={"gate": {"needed": 2, "of": "ops", "life": 100}})
    await rounds(bench)
    assert (status(bench, made.run), one.jobs) == ("awaiting approval", [])
    chains, ops = bench.fleet.chains, ("ops",)
    yes = Ballot(approves=True, plan_sha256=made.plan_sha256)
    refused = {
        "author": (Voter("joe", ops), yes),
        "not in the group": (Voter("eve"), yes),
        "an older plan": (Voter("ann", ops), Ballot(approves=True, plan_sha256="0" * 64)),
    }
    for voter, ballot in refused.values():
        with pytest.raises(OperationError) as problem:
            await chains.vote(voter, made.run, "run", ballot)
        assert code(problem) == "chain-gate"
    assert await chains.vote(Voter("ann", ops), made.run, "run", yes) == "open"
    with pytest.raises(OperationError, match="votes once"):
        await chains.vote(Voter("ann", ops), made.run, "run", yes)
    assert await chains.vote(Voter("bob", ops), made.run, "run", yes) == "approved"
    with pytest.raises(OperationError, match="already approved"):
        await chains.vote(Voter("cid", ops), made.run, "run", yes)
    await rounds(bench)
    assert status(bench, made.run) == "succeeded"
    with bench.database.read() as connection:
        happened = [row["what"] for row in views.log(connection, made.run)]
    assert happened == ["approved", "approved", "order 1: run"], "first the votes, then what was sent"


@pytest.mark.parametrize("how", ["rejected", "expired"])
def test_50_a_gate_that_is_rejected_or_too_late_ends_what_has_not_begun(how: str, tmp_path: Any) -> None:
    @on_bench
    async def scenario(bench: Bench) -> None:
        one, two = await fleet(bench, 2)
        made = await start(bench, rollout={"waves": [1], "wave_gate": {"life": 100}})
        await rounds(bench)
        assert (len(one.jobs), len(two.jobs), status(bench, made.run)) == (1, 0, "running")
        if how == "rejected":
            no = Ballot(approves=False, plan_sha256=made.plan_sha256, why="not tonight")
            await bench.fleet.chains.vote(Voter("ann"), made.run, "wave 2", no)
        else:
            bench.clock.ahead = 120.0
        await rounds(bench)
        assert legs(bench, made.run) == {"s0": "succeeded", "s1": "cancelled"}
        assert (status(bench, made.run), two.jobs) == ("partial", [])
        for more in ({}, {"systems": ("s1",)}, {"inputs": {"word": "x"}}):
            with pytest.raises(
                OperationError, match=r"gate 'wave 2' of .* was (rejected|not approved in time)"
            ):
                await bench.fleet.chains.order("ann", made.run, Order(verb="retry", **more))
        await rounds(bench)
        assert (status(bench, made.run), two.jobs) == ("partial", []), "it begins only in another run"

    scenario(tmp_path)


@pytest.mark.parametrize("how", ["rejected", "expired", "cancelled"])
@pytest.mark.parametrize("verb", ["retry", "skip", "done"])
def test_50_what_was_never_approved_is_not_begun_by_an_order(how: str, verb: Any, tmp_path: Any) -> None:
    @on_bench
    async def scenario(bench: Bench) -> None:
        (one,) = await fleet(bench, 1)
        made = await start(bench, rollout={"gate": {"life": 100}})
        await rounds(bench)
        if how == "rejected":
            no = Ballot(approves=False, plan_sha256=made.plan_sha256, why="not tonight")
            await bench.fleet.chains.vote(Voter("ann"), made.run, "run", no)
        elif how == "expired":
            bench.clock.ahead = 120.0
        else:
            await bench.fleet.chains.order("joe", made.run, Order(verb="cancel"))
        await rounds(bench)
        step = "" if verb == "retry" else "a"
        with pytest.raises(OperationError, match=r"gate 'run' of .* was (not approved|rejected)"):
            await bench.fleet.chains.order("joe", made.run, Order(verb=verb, step=step, reason="checked"))
        await rounds(bench)
        assert (status(bench, made.run), one.jobs) == ("cancelled", [])

    scenario(tmp_path)


@pytest.mark.parametrize("how", ["remove", "revoke"])
def test_49_a_system_that_leaves_the_fleet_holds_up_no_other(how: str, tmp_path: Any) -> None:
    @on_bench
    async def scenario(bench: Bench) -> None:
        one, two, three = await fleet(bench, 3)
        one.holds = two.deaf = True
        made = await start(bench, rollout={"max_in_flight": 1})
        await rounds(bench)
        for agent in (one, two):  # the first is at work, the second has not begun
            agent.deaf = True
            await getattr(bench.fleet.registry, how)("ann", agent.id)
        await rounds(bench, 8)
        assert legs(bench, made.run) == {"s0": "expired", "s1": "cancelled", "s2": "succeeded"}
        assert (status(bench, made.run), three.nodes[made.run].trace) == ("partial", [0, 1])
        with bench.database.read() as connection:
            found = views.show_run(connection, made.run)
        assert found is not None
        why = {
            "remove": "its system was removed from the fleet",
            "revoke": "the key of its system is revoked",
        }
        assert [leg["waits_for"] for leg in found["legs"]] == [why[how], why[how], ""]

    scenario(tmp_path)


@on_bench
async def test_49_a_wave_of_which_all_is_skipped_is_over_and_the_next_begins(bench: Bench) -> None:
    one, two = await fleet(bench, 2)
    one.results = {"a": Step.SKIPPED, "b": Step.SKIPPED}
    made = await start(bench, rollout={"waves": [1, "rest"]})
    await rounds(bench, 8)
    assert legs(bench, made.run) == {"s0": "succeeded with skips", "s1": "succeeded"}
    assert (status(bench, made.run), two.nodes[made.run].trace) == ("succeeded", [0, 1])


@on_bench
async def test_53_a_chain_that_is_archived_while_it_runs_comes_to_its_end(bench: Bench) -> None:
    one, two = await fleet(bench, 2)
    one.holds = two.holds = True
    made = await start(bench, rollout={"max_in_flight": 1})
    await rounds(bench)
    with bench.database.write() as connection:
        known = chain_named(connection, "two")
        assert known is not None
        assert set_archived(connection, known.id, "ann", bench.clock())
    await one.let_go()
    await two.let_go()
    await rounds(bench, 8)
    assert status(bench, made.run) == "succeeded"


@on_bench
async def test_53_a_chain_that_is_edited_while_it_runs_is_run_as_it_was(bench: Bench) -> None:
    one, two = await fleet(bench, 2)
    one.holds = two.holds = True
    made = await start(bench, rollout={"max_in_flight": 1})
    await rounds(bench)
    await bench.fleet.chains.start("ann", NewRun(target="s0", text=EDITED), permit=allow)
    await one.let_go()
    await two.let_go()
    await rounds(bench, 8)
    assert matrix(bench, made.run)["s1"] == {"a": "succeeded", "b": "succeeded"}
    again = await bench.fleet.chains.start("ann", NewRun(target="s0", chain="two"), permit=allow)
    await rounds(bench)
    assert list(matrix(bench, again.run)["s0"]) == ["a", "c"]


@pytest.mark.parametrize("lost", [(), ("s0",), ("s0", "s2")], ids=str)
def test_57_what_happens_to_some_systems_is_nothing_to_the_others(
    lost: tuple[str, ...], tmp_path: Any
) -> None:
    @on_bench
    async def scenario(bench: Bench) -> None:
        agents = await fleet(bench, 4)
        for agent in agents:
            agent.silent = agent.id in lost
        made = await start(bench)
        await rounds(bench)
        found = {agent.id: agent for agent in agents}
        for name in {"s0", "s1", "s2", "s3"} - set(lost):
            assert found[name].nodes[made.run].trace == [0, 1]
            assert matrix(bench, made.run)[name] == {"a": "succeeded", "b": "succeeded"}
            assert [job.kwargs["order"] for job in found[name].jobs] == [1]

    scenario(tmp_path)


@on_bench
async def test_58_nothing_is_left_to_send_or_to_hear_of_when_a_run_is_over(bench: Bench) -> None:
    await fleet(bench, 3)
    made = await start(bench)
    await rounds(bench)
    with bench.database.read() as connection:
        assert not chain_outbox.unsent_orders(connection)
        assert not chain_outbox.returned_orders(connection)
        assert chain_runs.open_systems(connection) == {}
        assert all(row["acked"] for row in chain_outbox.leg_orders(connection, made.run))


# -- rollouts -----------------------------------------------------------------------------------------


@on_bench
async def test_stages_are_done_one_after_the_other_and_every_system_belongs_to_one(bench: Bench) -> None:
    agents = await fleet(bench, 3)
    stages = [{"name": "first", "target": "s1"}, {"name": "rest", "target": "*"}]
    agents[1].holds = True
    made = await start(bench, rollout={"stages": _stages(stages)})
    await rounds(bench)
    assert [len(agent.jobs) for agent in agents] == [0, 1, 0]
    await agents[1].let_go()
    await rounds(bench, 8)
    assert status(bench, made.run) == "succeeded"
    with pytest.raises(OperationError) as problem:
        await start(bench, rollout={"stages": _stages(stages[:1])})
    assert code(problem) == "chain-stage"


def _stages(rows: list[dict[str, str]]) -> Any:
    return convert({"stages": rows}, Rollout).stages


@on_bench
async def test_in_lockstep_no_system_is_a_step_ahead(bench: Bench) -> None:
    one, two = await fleet(bench, 2)
    two.holds = True
    made = await start(bench, rollout={"lockstep": True})
    await rounds(bench)
    assert (one.nodes[made.run].trace, two.nodes[made.run].trace) == ([0], [])
    assert matrix(bench, made.run)["s0"] == {"a": "succeeded", "b": "not run"}
    await two.let_go()
    await rounds(bench, 10)
    assert (one.nodes[made.run].trace, two.nodes[made.run].trace) == ([0, 1], [0, 1])
    assert status(bench, made.run) == "succeeded"


@on_bench
async def test_at_most_so_many_systems_of_a_group_are_worked_on(bench: Bench) -> None:
    agents = await fleet(bench, 4)
    for agent in agents:
        agent.holds = True
    await start(bench, rollout={"max_unavailable": 1, "group_by": "rack"})
    await rounds(bench)
    assert sum(len(agent.jobs) for agent in agents) == 1  # all are in the group without a name
