"""A run taken up again with other inputs: a revision, in force at once or after another approval."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import json
from tests.fleet.controller.chain_kit import leg_agent, legs, matrix, on_bench, order, rounds, start
from tests.fleet.controller.kit import FLEET, SEALING, Bench

from saltern.chains.statuses import Step
from saltern.fleet.controller.chains import views
from saltern.fleet.controller.chains.gates import Ballot, Voter
from saltern.fleet.protocol.sealed_inputs import open_arguments
from saltern.fleet.store import chain_runs
from saltern.language.diagnostics import ChainError, OperationError

TEXT = """\
chain: revised
inputs:
  number: {type: integer, default: 1}
  key: {secret: true}
actions:
  - {id: a, command: 'echo ${input:number}'}
  - {id: b, command: 'test ${input:number} = 2'}
"""


def shown(bench: Bench, run: str) -> dict[str, Any]:
    with bench.database.read() as connection:
        found = views.show_run(connection, run)
    assert found is not None
    return found


@on_bench
async def test_46_a_retry_with_other_inputs_is_a_revision_for_what_is_not_done(bench: Bench) -> None:
    well = await leg_agent(bench, "web1")
    bad = await leg_agent(bench, "web2", b=Step.FAILED)
    made = await start(bench, TEXT, inputs={"key": "hunter22"})
    await rounds(bench)
    assert legs(bench, made.run) == {"web1": "succeeded", "web2": "failed"}
    before = {name: len(one.jobs) for name, one in (("web1", well), ("web2", bad))}
    bad.nodes[made.run].results = (Step.SUCCEEDED, Step.SUCCEEDED)
    changed = await order(bench, made.run, "retry", inputs={"number": "2"})
    assert changed["inputs"] == "revision 1"
    await rounds(bench)
    assert legs(bench, made.run) == {"web1": "succeeded", "web2": "succeeded"}
    assert len(well.jobs) == before["web1"], "what has ended well is not asked again"
    retried = bad.jobs[before["web2"]]
    assert (retried.kwargs["verb"], retried.kwargs["revision"]) == ("retry", 1)
    given = open_arguments(retried.kwargs, SEALING, FLEET, "web2")
    assert given["pillar"] == {"number": 2, "key": "hunter22"}
    run = shown(bench, made.run)
    (one,) = run["revisions"]
    assert (one["status"], one["systems"]) == ("in force", ["web2"])
    assert run["inputs"] == one["inputs"] == {"number": 2, "key": "(concealed)"}
    assert run["plan_sha256"] != made.plan_sha256
    with bench.database.read() as connection:
        rows = {row["system"]: row for row in chain_runs.leg_rows(connection, made.run)}
        kept = chain_runs.run_row(connection, made.run)
    assert (rows["web1"]["plan_revision"], rows["web2"]["plan_revision"]) == (0, 1)
    assert rows["web2"]["epoch"] == 1
    assert kept is not None and json.decode(kept["inputs"])["number"] == 1, "what it began with is kept"
    assert matrix(bench, made.run)["web2"] == {"a": "succeeded", "b": "succeeded"}


@on_bench
async def test_50_a_run_that_was_approved_needs_an_approval_of_its_revision(bench: Bench) -> None:
    agent = await leg_agent(bench, "web1", b=Step.FAILED)
    made = await start(bench, TEXT, rollout={"gate": {"needed": 1}})
    await rounds(bench)
    voter = Voter("ann")
    await bench.fleet.chains.vote(voter, made.run, "run", Ballot(approves=True, plan_sha256=made.plan_sha256))
    await rounds(bench)
    assert legs(bench, made.run) == {"web1": "failed"}
    sent = len(agent.jobs)
    changed = await order(bench, made.run, "retry", inputs={"number": 2})
    assert changed == {"run": "revision 1 waits for approval"}
    await rounds(bench)
    assert len(agent.jobs) == sent and legs(bench, made.run) == {"web1": "failed"}
    (gate,) = [one for one in shown(bench, made.run)["gates"] if one["gate"] == "revision 1"]
    with pytest.raises(OperationError, match="another plan"):
        await bench.fleet.chains.vote(
            voter, made.run, "revision 1", Ballot(approves=True, plan_sha256=made.plan_sha256)
        )
    agent.nodes[made.run].results = (Step.SUCCEEDED, Step.SUCCEEDED)
    ballot = Ballot(approves=True, plan_sha256=gate["plan_sha256"])
    assert await bench.fleet.chains.vote(voter, made.run, "revision 1", ballot) == "approved"
    await rounds(bench)
    assert legs(bench, made.run) == {"web1": "succeeded"}
    assert agent.jobs[sent].kwargs["pillar"]["number"] == 2


@on_bench
async def test_a_revision_that_is_rejected_or_not_approved_in_time_changes_nothing(bench: Bench) -> None:
    agent = await leg_agent(bench, "web1", b=Step.FAILED)
    made = await start(bench, TEXT, rollout={"gate": {"needed": 1, "life": 3600}})
    await rounds(bench)
    vote = bench.fleet.chains.vote
    await vote(Voter("ann"), made.run, "run", Ballot(approves=True, plan_sha256=made.plan_sha256))
    await rounds(bench)
    sent = len(agent.jobs)
    for _ in range(2):
        await order(bench, made.run, "retry", inputs={"number": 2})
    gates = {one["gate"]: one["plan_sha256"] for one in shown(bench, made.run)["gates"]}
    ballot = Ballot(approves=False, plan_sha256=gates["revision 1"])
    assert await vote(Voter("ann"), made.run, "revision 1", ballot) == "rejected"
    bench.clock.ahead = 4000
    await rounds(bench)
    statuses = [one["status"] for one in shown(bench, made.run)["revisions"]]
    assert statuses == ["rejected", "expired"]
    assert len(agent.jobs) == sent and legs(bench, made.run) == {"web1": "failed"}


@on_bench
async def test_inputs_that_the_chain_does_not_take_and_other_orders_are_refused(
    bench: Bench,
) -> None:
    await leg_agent(bench, "web1", b=Step.FAILED)
    made = await start(bench, TEXT)
    await rounds(bench)
    with pytest.raises(ChainError, match="must be an integer"):
        await order(bench, made.run, "retry", inputs={"number": "many"})
    with pytest.raises(ChainError, match="no input 'colour'"):
        await order(bench, made.run, "retry", inputs={"colour": 1})
    with pytest.raises(OperationError, match="only retry takes other inputs"):
        await order(bench, made.run, "skip", step="b", inputs={"number": 2})
    assert shown(bench, made.run)["revisions"] == []
