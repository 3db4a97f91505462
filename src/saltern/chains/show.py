"""A leg as data and as lines, with what the run at work knows already."""

from __future__ import annotations

from collections.abc import Iterator

from saltern.chains.compile import state_id
from saltern.chains.legs import KnownLeg, Legs
from saltern.chains.results import begun_in, results
from saltern.chains.statuses import OVER, Leg, Step
from saltern.config.settings import Settings
from saltern.journal.report import report_of
from saltern.journal.runs import Runs
from saltern.language.diagnostics import OperationError
from saltern.system import ledger
from saltern.system.clock import stamp

WAS = "it was running when its process ended; its result is determined when it is resumed"
DAMAGED = "damaged"
LOST = "the journal of its run is damaged, so it is unknown whether it was done"
LINE = "{:<22}{:<22}{:<21}{:<20}{}"
HEAD = LINE.format("run", "status", "started (UTC)", "chain", "system")


def as_data(known: KnownLeg, settings: Settings) -> dict[str, object]:
    """Every step: what became of it, or what keeps it from running."""
    legs = Legs(settings)
    state, plan = known.state, known.state.plan
    now = _live(known, settings)
    busy = running(known, settings)
    for name, still in busy.items():
        now[name] = {"status": Step.RUNNING.value, "comment": "" if still else WAS}
    rows: list[dict[str, object]] = []
    for action in (*plan.steps, *plan.finalizers):
        step = state.steps[action.id]
        row: dict[str, object] = {
            "action": action.id,
            "kind": action.kind,
            "chunk": plan.segment_of(action.id).name,
            "status": now.get(action.id, {}).get("status", step.status.value),
            "comment": now.get(action.id, {}).get("comment", step.comment),
            "changed": now.get(action.id, {}).get("changed", step.changed),
            "attempts": step.attempts,
            "took": now.get(action.id, {}).get("took", step.took),
        }
        if step.blocked_by:
            row["blocked_by"] = step.blocked_by
        rows.append(row)
    return {
        "run": known.id,
        "chain": plan.chain.name,
        "system": plan.system,
        "status": state.status.value,
        "at_work": legs.holder() == known.id,
        "plan_sha256": known.head.get("plan_sha256", ""),
        "elapsed": round(state.elapsed, 3),
        "quarantined": state.quarantined,
        "waits_for": state.paused,
        "started": known.head["started"],
        "steps": rows,
    }


def _live(known: KnownLeg, settings: Settings) -> dict[str, dict[str, object]]:
    """What the run of the open segment has reported so far."""
    segment, runs = known.state.segment, Runs(settings)
    if segment is None or segment.jid not in runs.jids():
        return {}
    if runs.is_damaged(segment.jid):
        return {name: {"status": Step.INDETERMINATE.value, "comment": LOST} for name in segment.actions}
    state = runs.state(segment.jid)
    rows = results(report_of(state), segment.actions) if state.has_plan else {}
    return {name: row for name, row in rows.items() if row["status"] != Step.NOT_RUN.value}


def running(known: KnownLeg, settings: Settings) -> dict[str, bool]:
    """What was begun and has not ended; whether it is at work now, in our process or without it."""
    segment, runs = known.state.segment, Runs(settings)
    if segment is None or segment.jid not in runs.jids() or runs.is_damaged(segment.jid):
        return {}
    run = runs.state(segment.jid)
    begun = begun_in(run) if run.has_plan and not run.is_over else {}
    holder = runs.holder()
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
        first = str(row["comment"]).partition("\n")[0]
        note = blocked if row["status"] == Step.NOT_RUN.value and blocked else first
        changed = "changed" if row["changed"] else ""
        yield f"  {row['action']:<12}{row['kind']:<11}{row['status']:<15}{changed:<9}{note}".rstrip()
    if advice := _advice(known, bool(data["at_work"]), running(known, settings)):
        yield advice


def _advice(known: KnownLeg, at_work: bool, busy: dict[str, bool]) -> str:
    status, name = known.state.status, known.id
    if known.state.quarantined:
        return f"\nit broke again and again: find out why, then saltern chain release {name}"
    if status is Leg.PAUSED and known.state.paused:
        return f"\nit waits: {known.state.paused}; then saltern chain resume {name}"
    if status in (Leg.FAILED, Leg.INDETERMINATE, Leg.CANCELLED):
        again = f"\nsaltern chain retry {name} runs again what is not done"
        return f"{again}; skip {name} ACTION leaves it out; done {name} ACTION vouches for it"
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


def summary(leg: str, known: KnownLeg | OperationError) -> str:
    if not isinstance(known, KnownLeg):
        return LINE.format(leg, DAMAGED, "", "", "").rstrip()
    started = stamp(known.head["started"])
    plan = known.state.plan
    return LINE.format(known.id, known.state.status.value, started, plan.chain.name, plan.system)
