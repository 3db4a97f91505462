"""Turns orders into jobs: equal orders to many systems are one job.

A job and its link to the orders are one transaction; if it is lost in transit afterwards, the agent's next
sync fetches it, like any job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct, json

from saltern.chains.document import read_chain
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.chains.health import make_check, to_ask
from saltern.fleet.controller.chains.own_checks import OwnChecks
from saltern.fleet.controller.chains.revisions import inputs_of
from saltern.fleet.controller.chains.vault import Vault
from saltern.fleet.controller.dispatch import Dispatcher
from saltern.fleet.controller.job_events import job_new
from saltern.fleet.controller.singleton import Hold
from saltern.fleet.protocol.ids import new_jid
from saltern.fleet.protocol.messages import Audience, Job
from saltern.fleet.store.chain_outbox import Unsent, set_job, unsent_orders
from saltern.fleet.store.chain_runs import run_row
from saltern.fleet.store.chains import version_of
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import store_events
from saltern.fleet.store.jobs import NewJob, create_job

FUNCTION = "chain.leg"
TOGETHER = 500  # systems of one job
LEAST = 300.0  # seconds for which an order is offered, even if the run has no time left
BESIDE = frozenset({"pause", "cancel"})  # these reach a leg while its job runs


class Group(Struct, frozen=True):
    """Equal orders, each to another system."""

    run: str
    order: int
    verb: str
    step: str
    body: bytes
    revision: int
    orders: tuple[Unsent, ...]


class Sent(Struct, frozen=True):
    """A stored job. The system decides what a hard cancel stops: package operations run to their end."""

    jid: str
    systems: list[str]
    envelope: bytes


class Publisher:
    """Makes and sends the jobs of orders."""

    def __init__(
        self,
        calls: Calls,
        dispatcher: Dispatcher,
        vault: Vault,
        *,
        now: Callable[[], float],
        checks: OwnChecks | None = None,
    ) -> None:
        self._checks = checks
        self._calls = calls
        self._dispatcher = dispatcher
        self._vault = vault
        self._now = now

    async def publish(self, hold: Hold) -> int:
        """Send all orders that wait; return the number of jobs that were made."""
        number = 0
        for group in group_orders(await self._calls.read(unsent_orders)):
            sent = await hold.write(self._make, group, self._now())
            await self._dispatcher.push(sent.jid, sent.systems, sent.envelope)
            number += 1
        if self._checks is not None:
            await self._checks.look(hold, self._now())
        return number + await self._publish_checks(hold)

    async def _publish_checks(self, hold: Hold) -> int:
        """Send the health checks of waves that have soaked."""
        number = 0
        for run, wave in await self._calls.read(to_ask):
            sent = await hold.write(make_check, self._dispatcher, run, wave, self._now)
            if sent is not None:
                await self._dispatcher.push(sent.jid, sent.systems, sent.envelope)
                number += 1
        return number

    def _make(self, connection: Connection, group: Group, now: float) -> Sent:
        """Store the job; in the thread of the database."""
        row = run_row(connection, group.run)
        assert row is not None
        systems = [one.system for one in group.orders]
        job = _job(connection, group, row, new_jid(now), self._vault)
        life = max(LEAST, row["deadline"] + json.decode(row["strategy"]).get("grace", 0) - now)
        envelope = self._dispatcher.sign(job, Audience(ids=systems), now=now, life=life)
        target = f"L@{','.join(systems)}"
        new = NewJob(
            job=job, target=target, systems=tuple(systems), expires=now + life, envelope=envelope.decode()
        )
        create_job(connection, new, now)
        store_events(connection, [job_new(job, target, systems, now)])
        set_job(connection, [one.number for one in group.orders], job.jid, now)
        return Sent(job.jid, systems, envelope)


def group_orders(orders: Iterable[Unsent]) -> Iterator[Group]:
    """Group equal orders; the orders of one leg keep their sequence."""
    groups: dict[tuple[str, int, str, str, bytes, int], list[Unsent]] = {}
    for one in orders:
        key = (one.run, one.order, one.verb, one.step, one.body, one.revision)
        groups.setdefault(key, []).append(one)
    for key, some in sorted(groups.items(), key=lambda pair: pair[1][0].number):
        for first in range(0, len(some), TOGETHER):
            yield Group(*key, tuple(some[first : first + TOGETHER]))


def _job(connection: Connection, group: Group, row: Any, jid: str, vault: Vault) -> Job:
    version = version_of(connection, row["chain"], row["version"])
    assert version is not None
    body = json.decode(group.body)
    inputs = vault.open_values(inputs_of(connection, row, group.revision))
    specs = read_chain(version.text, f"{row['chain']}.yaml").inputs
    systems = [one.system for one in group.orders]
    kwargs = {
        "run": group.run,
        "order": group.order,
        "verb": group.verb,
        "step": group.step,
        "text": version.text,
        "file": f"{row['chain']}.yaml",
        **vault.arguments(connection, systems, specs, inputs),
        **({"revision": group.revision} if group.revision else {}),
        **body,
    }
    return Job(
        jid=jid,
        function=FUNCTION,
        kwargs=kwargs,
        changing=group.verb not in BESIDE,
        environment=row["environment"],
        tree=row["tree"],
        user=row["author"],
        rule=row["rule"],
    )
