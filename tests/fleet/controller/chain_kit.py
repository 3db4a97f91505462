"""Systems that play legs of chains, without processes: the node's rules of ``simulated``, on the bus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import msgspec
from msgspec import convert
from sqlalchemy import Connection, event
from tests.fleet.chains.simulated import Node
from tests.fleet.controller.kit import JOE, TRUST, Bench, LightAgent, let_in, running_bench
from tests.fleet.harness import run

from saltern.chains.document import read_chain
from saltern.chains.statuses import OVER, Leg, Step
from saltern.fleet.chains.control import Order
from saltern.fleet.chains.events import Send
from saltern.fleet.chains.plans import plan_systems
from saltern.fleet.chains.rollout import Rollout
from saltern.fleet.controller.chains.desk import NewRun, Started
from saltern.fleet.protocol.envelope import verify
from saltern.fleet.protocol.ids import encode_id
from saltern.fleet.protocol.messages import Job, SyncAnswer
from saltern.fleet.store import chain_runs

TWO = "chain: two\nactions:\n  - {id: a, command: 'true'}\n  - {id: b, command: 'true'}\n"
RESTS = (*OVER, Leg.PAUSED, Leg.WAITING)


def on_bench(test: Callable[[Bench], Awaitable[None]]) -> Callable[[Path], None]:
    """A test with a controller of its own."""

    @wraps(test)
    def wrapped(tmp_path: Path) -> None:
        async def scenario() -> None:
            async with running_bench(tmp_path) as bench:
                bench.board.is_known = True
                await test(bench)

        run(scenario())

    del wrapped.__wrapped__
    return wrapped


async def allow(_systems: tuple[str, ...]) -> str:
    return "rule 1"


class LegAgent(LightAgent):
    """Does its legs at once, unless it ``holds``; ``results`` say how actions end, by id."""

    def __init__(self, *words: Any, results: dict[str, Step] | None = None) -> None:
        super().__init__(*words)
        self.results = results or {}
        self.nodes: dict[str, Node] = {}
        self.holds = False
        self.silent = False
        self.deaf = False  # what is sent does not arrive
        self.waiting: list[Job] = []
        self.says: dict[str, dict[str, Any]] = {}  # more for the rows of actions, by id

    async def on_job(self, job: Job) -> None:
        if job.function != "chain.leg" or self.deaf:
            return
        self.node(job).take(
            Send(
                leg="",
                number=job.kwargs["order"],
                verb=job.kwargs["verb"],
                step=job.kwargs["step"],
                until=job.kwargs["until"],
            )
        )
        if self.holds and job.changing:
            self.waiting.append(job)
        elif not self.silent:
            await self.finish(job)

    def node(self, job: Job) -> Node:
        run = job.kwargs["run"]
        if run not in self.nodes:
            plan = plan_systems(read_chain(job.kwargs["text"], "c"), [self.id])[self.id].steps
            ends = tuple(self.results.get(step.id, Step.SUCCEEDED) for step in plan)
            self.nodes[run] = Node(f"{run}.{self.id}", plan, ends)
        return self.nodes[run]

    async def finish(self, job: Job, **more: Any) -> None:
        """Work on the leg until it rests, and return; an order that only reaches it does not drive it."""
        node = self.node(job)
        for _ in range(100 if job.changing or node.verb in ("pause", "cancel") else 0):
            node.work()
            if node.status in RESTS:
                break
        await self.answer(job, **more)

    async def answer(self, job: Job, **more: Any) -> None:
        body = msgspec.json.encode(self.report(self.node(job)))
        await self.give(job.jid, body=body, size=len(body), **more)

    def report(self, node: Node) -> dict[str, Any]:
        rows = [
            {
                "action": plan.id,
                "status": step.value,
                "changed": step is Step.SUCCEEDED,
                "attempts": 1,
                **self.says.get(plan.id, {}),
            }
            for plan, step in zip(node.plan, node.steps, strict=True)
        ]
        return {"status": node.status.value, "seq": node.seq, "steps": rows, "order": node.number}

    async def let_go(self) -> None:
        """End all that is held."""
        self.holds = False
        waiting, self.waiting = self.waiting, []
        for job in waiting:
            await self.finish(job)


async def leg_agent(bench: Bench, id: str, **results: Step) -> LegAgent:
    let_in(bench.database, id, {})
    agent = LegAgent(bench.memory.connect(encode_id(id)), id, {}, results=results)
    await agent.start()
    bench.board.heard(id)
    return agent


async def start(bench: Bench, text: str = TWO, target: str = "*", **options: Any) -> Started:
    rollout = convert(options.pop("rollout", {}), Rollout)
    return await bench.fleet.chains.start(
        JOE.name, NewRun(target=target, text=text, rollout=rollout, **options), permit=allow
    )


async def rounds(bench: Bench, number: int = 6) -> None:
    """Let everything that is under way arrive, a few times over."""
    for _ in range(number):
        await bench.keep_house("chains")
        await bench.bus.flush()
        await bench.index()


async def order(bench: Bench, name: str, verb: str, **more: Any) -> dict[str, str]:
    return await bench.fleet.chains.order("ann", name, Order(verb=verb, **more))  # type: ignore[arg-type]


def status(bench: Bench, name: str) -> str:
    with bench.database.read() as connection:
        row = chain_runs.run_row(connection, name)
    assert row is not None
    return str(row["status"])


def legs(bench: Bench, name: str) -> dict[str, str]:
    with bench.database.read() as connection:
        return {row["system"]: row["status"] for row in chain_runs.leg_rows(connection, name)}


def matrix(bench: Bench, name: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    with bench.database.read() as connection:
        for system, action, state, *_ in chain_runs.matrix_rows(connection, name):
            found.setdefault(system, {})[action] = state
    return found


async def take_missed(agent: LegAgent, answer: SyncAnswer) -> None:
    """Take the jobs of a sync answer, as an agent does."""
    for text in answer.jobs:
        job = verify(text.encode(), TRUST, me=agent.id, now=agent.now()).of(Job)
        agent.jobs.append(job)
        await agent.on_job(job)


@contextmanager
def counted_writes(bench: Bench) -> Iterator[Counter[str]]:
    """How many ``transactions`` have written to the database."""
    found: Counter[str] = Counter()

    def count(connection: Connection) -> None:
        found["transactions"] += bool(connection.get_execution_options().get("saltern_writes"))

    event.listen(bench.database.engine, "commit", count)
    try:
        yield found
    finally:
        event.remove(bench.database.engine, "commit", count)
