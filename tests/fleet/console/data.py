"""A fleet that does something: systems, a run with waves, failures, a reboot, a gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import convert
from msgspec.json import encode
from msgspec.structs import replace

from saltern.chains.statuses import Leg, Run, Step, Wave
from saltern.fleet.chains.model import Attempt, LegState, RunState, StepPlan, StepState
from saltern.fleet.chains.rollout import GateAsk, Rollout, make_run
from saltern.fleet.controller.chains import gates, records
from saltern.fleet.protocol.messages import Facts
from saltern.fleet.store import chain_runs, events, systems
from saltern.fleet.store.chain_outbox import put_orders
from saltern.fleet.store.chains import StoredChain, StoredVersion, add_chain, add_version
from saltern.fleet.store.database import Database
from saltern.fleet.store.events import NewEvent
from saltern.fleet.store.systems import Applicant

TEXT = """\
chain: os-patch
actions:
  - {id: drain, command: drain}
  - {id: patch, command: apt-get -y upgrade}
  - {id: reboot, reboot: {}}
  - {id: health, command: check}
finally:
  - {id: note, command: note}
"""
PLAN = (
    StepPlan(id="drain", kind="command"),
    StepPlan(id="patch", kind="command"),
    StepPlan(id="reboot", kind="reboot"),
    StepPlan(id="health", kind="command"),
    StepPlan(id="note", kind="command", final=True),
)
WORDS = {
    "n": Step.NOT_RUN, "w": Step.WAITING, "r": Step.RUNNING, "o": Step.SUCCEEDED, "c": Step.SUCCEEDED,
    "f": Step.FAILED, "t": Step.TIMED_OUT, "u": Step.INDETERMINATE, "s": Step.SKIPPED, "x": Step.CANCELLED,
}  # fmt: skip


def add_fleet(database: Database, ids: Sequence[str], *, online: bool = True, **grains: Any) -> None:
    """Systems that are let in, with facts."""
    with database.write() as connection:
        for id_ in ids:
            applicant = Applicant(id=id_, key=b"k" * 32, sealing_key=b"s" * 32, fingerprint=f"SHA256:{id_}")
            systems.enrol(connection, applicant, 1.0, accept_by="t")
            facts = {"os": "Debian", "osfinger": "Debian-12", "role": id_.partition("-")[0], **grains}
            digest = f"{abs(hash(id_)):x}"[:16].ljust(64, "0")
            systems.store_facts(connection, id_, Facts(nonce="n", digest=digest, grains=facts), 2.0)
            if online:
                from sqlalchemy import update

                from saltern.fleet.store.tables import SYSTEMS

                row = {"online": True, "seen_at": 1e9, "version": "0.9.4"}
                connection.execute(update(SYSTEMS).where(SYSTEMS.c.id == id_).values(**row))


def leg_in(leg: LegState, letters: str, status: Leg, at: float, comment: str = "", **more: Any) -> LegState:
    """A leg with its steps as these letters say; what ran took ten seconds each from ``at`` on."""
    steps = []
    for number, one in enumerate(letters):
        ran = one not in "nwsx"
        steps.append(
            StepState(
                status=WORDS[one],
                changed=one == "c",
                comment=comment if one in "ftu" else ("done" if ran else ""),
                attempts=(Attempt(1, WORDS[one]),) if ran else (),
                took=10.0 if ran else 0,
                started=at + 10 * number if ran else None,
                ended=at + 10 * number + 10 if ran and one != "r" else None,
                blocked_by="patch" if one == "n" and "f" in letters[:number] else "",
            )
        )
    return replace(leg, status=status, steps=tuple(steps), sent="run", order=1, begun=at, **more)


def add_run(
    database: Database,
    name: str,
    legs: Sequence[tuple[str, str, Leg, str]],
    *,
    at: float = 1_000_000_000.0,
    status: Run = Run.RUNNING,
    waves: tuple[int | str, ...] = (),
    plan: tuple[StepPlan, ...] = PLAN,
    chain: str = "os-patch",
    gate: bool = False,
    text: str = TEXT,
) -> RunState:
    """A run: each leg is a system, its letters, its status, and what its failure says."""
    rollout = convert({"max_failures": "62.5%"} | ({"waves": list(waves)} if waves else {}), Rollout)
    run = make_run(name, "c", {one[0]: plan for one in legs}, rollout, now=at)
    made = {
        leg.id: leg_in(leg, letters, how, at + 5, comment)
        for leg, (_, letters, how, comment) in zip(run.legs.values(), legs, strict=True)
    }
    begun = Wave.RUNNING if status is Run.RUNNING else Wave.OVER
    run = replace(run, legs=made, status=status, waves=tuple(replace(one, status=begun) for one in run.waves))
    with database.write() as connection:
        key = f"chain-{chain}"
        if chain_runs_missing(connection, key):
            add_chain(connection, StoredChain(id=key, name=chain, created=at, created_by="anna"))
            version = StoredVersion(chain=key, number=1, text=text, sha256="", author="anna", created=at)
            add_version(connection, version)
        fixed = {"id": name, "chain": key, "version": 1, "target": "*", "strategy": encode(run.strategy)}
        row = {**records.run_values(run), **fixed, "plan_sha256": "ab" * 32, "author": "anna", "created": at}
        rows = [
            {**records.new_leg(name, leg, place, ""), "ended": at + 60 if leg.is_over else None}
            for place, leg in enumerate(run.legs.values())
        ]
        steps = [records.new_step(leg, number) for leg in run.legs.values() for number in range(len(plan))]
        chain_runs.add_run(
            connection, row, [records.wave_values(name, one) for one in run.waves], rows, steps
        )
        for leg in run.legs.values():
            tries = [one for number in range(len(plan)) for one in records.attempt_values(leg, number)]
            chain_runs.put_attempts(connection, tries)
        if gate:
            gates.add(connection, name, {"run": GateAsk()}, "ab" * 32, at)
        first = next(iter(run.legs.values()))
        put_orders(connection, [{"run": name, "leg": first.id, "order": 1, "verb": "run", "created": at}])
        events.store_events(connection, [*_events(run, at)])
    return run


def chain_runs_missing(connection: Any, key: str) -> bool:
    from saltern.fleet.store.chains import chain_named

    return chain_named(connection, key) is None


def _events(run: RunState, at: float) -> list[NewEvent]:
    tag = f"saltern/chain/{run.id}"
    found = [
        NewEvent(tag=f"{tag}/status", data={"run": run.id, "status": "running", "before": "scheduled"}, at=at)
    ]
    for leg in run.legs.values():
        for status, when in (("running", at + 5), (leg.status.value, at + 60)):
            data = {"run": run.id, "id": leg.system, "status": status, "before": "", "away": False}
            found.append(NewEvent(tag=f"{tag}/leg/{leg.system}", data=data, at=when, system=leg.system))
    return found


def demo(database: Database, now: float) -> None:
    """Twenty-four systems, a run of three waves with failures, and one before it that succeeded."""
    web = [f"web-{number:04}.fra" for number in range(1, 19)]
    api = [f"api-{number:04}.ber" for number in range(1, 5)]
    add_fleet(database, web[:14], site="fra", rack="r11", kernelrelease="6.1.0-40")
    add_fleet(database, web[14:], site="fra", rack="r14", kernelrelease="6.1.0-40")
    add_fleet(database, api, site="ber", kernelrelease="6.1.0-41")
    add_fleet(database, ["cache-0001.fra", "cache-0002.fra"], online=False, site="fra")
    legs: list[tuple[str, str, Leg, str]] = []
    legs += [(one, "ccoco", Leg.SUCCEEDED, "") for one in web[:6]]
    legs += [(one, "ccrnn", Leg.REBOOTING, "") for one in web[6:8]]
    legs += [(one, "crnnn", Leg.RUNNING, "") for one in web[8:14]]
    for number, one in enumerate(web[14:]):
        said = f"E: Unable to fetch http://mirror-b/pool/libssl3_{number}.deb  404 Not Found\nexit 100"
        legs.append((one, "cfnnn", Leg.FAILED, said))
    legs += [(api[0], "cunnn", Leg.INDETERMINATE, "the system was off while it ran")]
    legs += [(api[1], "ctnnn", Leg.FAILED, "no answer from 10.0.0.7 after 120 s")]
    legs += [(one, "nnnnn", Leg.PENDING, "") for one in api[2:]]
    add_run(database, "20261116024712000002", legs, at=now - 900, waves=(2, 8, 14))
    good = [(one, "cco" + "oo", Leg.SUCCEEDED, "") for one in web[:8]]
    add_run(database, "20261116004712000001", good, at=now - 7200, status=Run.SUCCEEDED)
