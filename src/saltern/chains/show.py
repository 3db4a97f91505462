"""A leg as data and as lines, with what the run at work knows already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import to_builtins

from saltern import __version__
from saltern.chains.compile import state_id
from saltern.chains.decide import is_lease_over
from saltern.chains.document import Action
from saltern.chains.leg import LegState
from saltern.chains.legs import KnownLeg, Legs
from saltern.chains.main_line import note_of
from saltern.chains.results import begun_in, results
from saltern.chains.statuses import OVER, Leg, Overlay, Step
from saltern.config.settings import Settings
from saltern.journal.barriers import Body, longest, seconds, start_deadline
from saltern.journal.chunk_codec import chunks_in
from saltern.journal.report import report_of
from saltern.journal.runs import Runs
from saltern.language.diagnostics import OperationError
from saltern.system import ledger
from saltern.system.clock import stamp

AGENT_RETURNS = 600.0  # seconds at least for another build to take over, and for its agent to be back
MOST_BOOTS = 20  # of a leg that are shown
WAS = "it was running when its process ended; its result is determined when it is resumed"
DOWN = "the machine goes down, or is down"
DAMAGED = "damaged"
LOST = "the journal of its run is damaged, so it is unknown whether it was done"
LINE = "{:<22}{:<22}{:<21}{:<20}{}"
HEAD = LINE.format("run", "status", "started (UTC)", "chain", "system")


def as_data(known: KnownLeg, settings: Settings) -> dict[str, object]:
    """Every step: what became of it, or what keeps it from running."""
    legs = Legs(settings)
    state, plan = known.state, known.state.plan
    now = _live(known, settings)
    for name, still in running(known, settings).items():
        status = Step.RUNNING if still else Step.INDETERMINATE
        now[name] = {"status": status.value, "comment": "" if still else WAS}
    at_work = legs.lock.holder() == known.id
    if (name := legs.orders.current(known.id)) and name not in now and _is_open(known, name):
        now[name] = {"status": (Step.RUNNING if at_work else Step.INDETERMINATE).value}
        now[name]["comment"] = "" if at_work else WAS
    asked = at_barrier(known, settings)
    for name in asked:
        now[name] = {"status": Step.RUNNING.value, "comment": DOWN}
    return {
        "run": known.id,
        "token": known.head.get("token", ""),
        "chain": plan.chain.name,
        "system": plan.system,
        "status": _going(asked) if asked and at_work else shown_status(known, at_work=at_work),
        **_expected(asked),
        "at_work": at_work,
        "plan_sha256": known.head.get("plan_sha256", ""),
        "elapsed": round(state.elapsed, 3),
        "quarantined": state.quarantined,
        "waits_for": state.paused or _waits_for(state),
        "started": known.head["started"],
        "boot": boot_name(state.boot),
        "boots": [to_builtins(one) for one in state.boots[-MOST_BOOTS:]],
        "build": __version__,
        "steps": [_step_row(known, action, now.get(action.id, {})) for action in plan.every],
    }


def _waits_for(state: LegState) -> str:
    if state.status is Leg.QUEUED:
        return f"{state.behind} to end"
    return "its window, which is over" if state.status is Leg.WAITING and is_lease_over(state) else ""


def boot_name(identity: str) -> str:
    """A short name of a boot, the same as long as it is the same one."""
    from hashlib import sha256

    return sha256(identity.encode()).hexdigest()[:12] if identity.strip("|") else ""


def _step_row(known: KnownLeg, action: Action, now: Mapping[str, object]) -> dict[str, object]:
    """One action, with what its run knows ``now`` in place of what is recorded."""
    step, plan = known.state.steps[action.id], known.state.plan
    recorded: dict[str, object] = {
        "status": step.status.value,
        "comment": step.comment,
        "changed": step.changed,
    }
    recorded |= {"run": step.run, "started": step.started, "took": step.took, "output": step.output}
    recorded |= {"output_size": step.output_size}
    recorded |= {"exit_code": step.exit_code} if step.exit_code is not None else {}
    row = {
        "action": action.id,
        "kind": action.kind,
        "chunk": plan.segment_of(action.id).name,
        "attempts": step.attempts + bool(now),  # counted with its result, which is not recorded yet
        **recorded,
        **now,
    }
    if now and not row["run"] and known.state.segment is not None:
        row["run"] = known.state.segment.jid
    row["took"] = round(float(str(row["took"])), 6)
    return row | ({"blocked_by": step.blocked_by} if step.blocked_by else {})


def _is_open(known: KnownLeg, name: str) -> bool:
    """True if the action is part of the segment that is not over, and has no result of its own."""
    segment = known.state.segment
    return segment is not None and name in segment.actions and known.state.steps[name].status is Step.NOT_RUN


def shown_status(known: KnownLeg, *, at_work: bool) -> str:
    """The status of a leg; one that should be at work and is not was broken."""
    lost = known.state.status is Leg.RUNNING and not at_work
    return Overlay.BROKEN.value if lost else known.state.status.value


def _going(asked: Mapping[str, Body]) -> str:
    """The status of a leg whose machine or program is about to go, also before that is recorded."""
    kinds = {str(body["kind"]) for body in asked.values()}
    return str(Leg.REBOOTING.value if "reboot" in kinds else Leg.UPDATING.value)


def _expected(asked: Mapping[str, Body]) -> dict[str, float]:
    """Seconds in which the machine must have gone down, and in which it is to be back after that; 0: as
    long as such machines take."""
    found = [_expected_of(body) for body in asked.values()] or [(0.0, 0.0)]
    return {"down_in": max(down for down, _ in found), "back_in": max(back for _, back in found)}


def _expected_of(body: Body) -> tuple[float, float]:
    if body["kind"] == "reboot":
        return start_deadline(body), seconds(body, "return_deadline")
    return 0.0, max(AGENT_RETURNS, longest(body))


def at_barrier(known: KnownLeg, settings: Settings) -> dict[str, Body]:
    """The actions that have asked for a reboot or an update, which is not proven yet, and what they ask."""
    segment, runs = known.state.segment, Runs(settings)
    if segment is None or segment.jid not in runs.jids() or runs.is_damaged(segment.jid):
        return {}
    run = runs.state(segment.jid)
    if not run.has_plan or run.is_over:
        return {}
    places = {body["place"]: body for body in run.open_barriers if not body["scope"]}
    chunks = chunks_in(run.scope("").plan, run.sources) if places else []
    asking = {chunks[place].id: body for place, body in places.items()}
    return {name: asking[state_id(name)] for name in segment.actions if state_id(name) in asking}


def _live(known: KnownLeg, settings: Settings) -> dict[str, dict[str, object]]:
    """What the run of the open segment has reported so far."""
    segment, runs = known.state.segment, Runs(settings)
    if segment is None or segment.jid not in runs.jids():
        return {}
    if runs.is_damaged(segment.jid):
        return {name: {"status": Step.INDETERMINATE.value, "comment": LOST} for name in segment.actions}
    state = runs.state(segment.jid)
    rows = results(report_of(state), segment.actions, known.state.plan.kinds) if state.has_plan else {}
    return {name: row for name, row in rows.items() if row["status"] != Step.NOT_RUN.value}


def running(known: KnownLeg, settings: Settings) -> dict[str, bool]:
    """What was begun and has not ended; whether it is at work now, in our process or without it."""
    segment, runs = known.state.segment, Runs(settings)
    if segment is None or segment.jid not in runs.jids() or runs.is_damaged(segment.jid):
        return {}
    run = runs.state(segment.jid)
    begun = begun_in(run) if run.has_plan and not run.is_over else {}
    holder = runs.lock.holder()
    lives = holder is not None and holder.jid == segment.jid
    lives = lives or bool(ledger.at_work(runs.kept_folder(segment.jid)))
    return {name: lives for name in segment.actions if state_id(name) in begun and not run.open_barriers}


def lines(known: KnownLeg, settings: Settings) -> Iterator[str]:
    data = as_data(known, settings)
    yield f"{data['run']}: chain {data['chain']} on {data['system']}: {data['status']}"
    steps = data["steps"]
    assert isinstance(steps, list)
    for row in steps:
        blocked = f"blocked by {row['blocked_by']}" if "blocked_by" in row else ""
        note = blocked if row["status"] == Step.NOT_RUN.value and blocked else note_of(row)
        changed = "changed" if row["changed"] else ""
        yield f"  {row['action']:<11} {row['kind']:<10} {row['status']:<15}{changed:<9}{note}".rstrip()
    if advice := _advice(known, bool(data["at_work"]), running(known, settings)):
        yield advice


def _advice(known: KnownLeg, at_work: bool, busy: dict[str, bool]) -> str:
    status, name = known.state.status, known.id
    if known.state.quarantined:
        return f"\nit broke again and again: find out why, then saltern chain release {name}"
    if status is Leg.PAUSED and known.state.paused:
        answers = f"saltern chain retry {name}, skip {name} ACTION or done {name} ACTION"
        return f"\nit waits: {known.state.paused}; {answers}; then saltern chain resume {name}"
    if status in (Leg.FAILED, Leg.INDETERMINATE, Leg.CANCELLED):
        again = f"\nsaltern chain retry {name} runs again what is not done"
        return f"{again}; skip {name} ACTION leaves it out; done {name} ACTION vouches for it"
    if status is Leg.QUEUED:
        return f"\nit waits for {known.state.behind or 'another chain'} to end"
    if status in OVER or at_work:
        return ""
    if status is Leg.RUNNING and any(busy.values()):
        return f"\nits process is gone; what it started still runs. saltern chain resume {name} waits for it"
    if status is Leg.REBOOTING:
        return f"\nit continues after the reboot, or with saltern chain resume {name}"
    return f"\nsaltern chain resume {name} continues it"


def unread(leg: str) -> dict[str, object]:
    """One whose journal is damaged."""
    return {"run": leg, "chain": "", "system": "", "status": DAMAGED, "at_work": False, "steps": []}


def summary(leg: str, known: KnownLeg | OperationError, *, at_work: bool = False) -> str:
    if not isinstance(known, KnownLeg):
        return LINE.format(leg, DAMAGED, "", "", "").rstrip()
    started = stamp(known.head["started"])
    plan = known.state.plan
    status = shown_status(known, at_work=at_work)
    return LINE.format(known.id, status, started, plan.chain.name, plan.system)
