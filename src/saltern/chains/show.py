"""Shows a leg as data and as lines, with the reports of the running run so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import to_builtins

from saltern import __version__
from saltern.chains.decide import is_lease_over
from saltern.chains.document import Action
from saltern.chains.leg import LegState
from saltern.chains.legs import KnownLeg, Legs
from saltern.chains.main_line import note_of
from saltern.chains.segment_view import SegmentView
from saltern.chains.statuses import OVER, Leg, Overlay, Step
from saltern.config.settings import Settings
from saltern.journal.barriers import Body, longest, seconds, start_deadline
from saltern.language.diagnostics import OperationError
from saltern.system.clock import stamp

AGENT_RETURNS = 600.0  # minimum seconds for another build to take over and its agent to return
MOST_BOOTS = 20  # the newest boots of a leg are shown
WAS = "it was running when its process ended; its result is determined when it is resumed"
DOWN = "the machine goes down, or is down"
DAMAGED = "damaged"
LINE = "{:<22}{:<22}{:<21}{:<20}{}"
HEAD = LINE.format("run", "status", "started (UTC)", "chain", "system")


def as_data(known: KnownLeg, settings: Settings, view: SegmentView | None = None) -> dict[str, object]:
    """The leg with the outcome of every step, or the reason why it does not run. ``view``: its segment, if it
    was read.
    """
    view = view or SegmentView(known, settings)
    state, plan = known.state, known.state.plan
    now = dict(view.rows)
    for name, still in view.begun_actions.items():
        status = Step.RUNNING if still else Step.INDETERMINATE
        now[name] = {"status": status.value, "comment": "" if still else WAS}
    at_work = Legs(settings).lock.holder() == known.id
    if name := unrecorded_action(known, settings, view):
        now[name] = {"status": (Step.RUNNING if at_work else Step.INDETERMINATE).value}
        now[name]["comment"] = "" if at_work else WAS
    asked = view.barriers
    for name in asked:
        now[name] = {"status": Step.RUNNING.value, "comment": DOWN}
    return {
        "run": known.id,
        "token": known.head.get("token", ""),
        "chain": plan.chain.name,
        "system": plan.system,
        "status": _departure_status(asked) if asked and at_work else shown_status(known, at_work=at_work),
        **_time_limits(asked),
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
    """A short, stable name of a boot."""
    from hashlib import sha256

    return sha256(identity.encode()).hexdigest()[:12] if identity.strip("|") else ""


def _step_row(known: KnownLeg, action: Action, now: Mapping[str, object]) -> dict[str, object]:
    """One action; the reports of its run, in ``now``, override the records."""
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


def unrecorded_action(known: KnownLeg, settings: Settings, view: SegmentView) -> str:
    """The action that the process of a leg has begun, while the journal of its run has no record of it."""
    name = Legs(settings).orders.current(known.id)
    is_recorded = name in view.rows or name in view.begun_actions
    return name if name and _is_open(known, name) and not is_recorded else ""


def _is_open(known: KnownLeg, name: str) -> bool:
    """True if the action is in the open segment and has no result yet."""
    segment = known.state.segment
    return segment is not None and name in segment.actions and known.state.steps[name].status is Step.NOT_RUN


def shown_status(known: KnownLeg, *, at_work: bool) -> str:
    """The status of a leg; broken if it should be running but is not."""
    lost = known.state.status is Leg.RUNNING and not at_work
    return Overlay.BROKEN.value if lost else known.state.status.value


def _departure_status(asked: Mapping[str, Body]) -> str:
    """The status of a leg whose machine is going down or whose program is being replaced, even before that is
    recorded.
    """
    kinds = {str(body["kind"]) for body in asked.values()}
    return str(Leg.REBOOTING.value if "reboot" in kinds else Leg.UPDATING.value)


def _time_limits(asked: Mapping[str, Body]) -> dict[str, float]:
    """The seconds within which the machine must go down, and within which it must return; 0: as long as such
    machines usually take."""
    found = [_expected_of(body) for body in asked.values()] or [(0.0, 0.0)]
    return {"down_in": max(down for down, _ in found), "back_in": max(back for _, back in found)}


def _expected_of(body: Body) -> tuple[float, float]:
    if body["kind"] == "reboot":
        return start_deadline(body), seconds(body, "return_deadline")
    return 0.0, max(AGENT_RETURNS, longest(body))


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
    if advice := _advice(known, bool(data["at_work"]), SegmentView(known, settings).begun_actions):
        yield advice


def _advice(known: KnownLeg, at_work: bool, busy: dict[str, bool]) -> str:
    status, name = known.state.status, known.id
    if known.state.quarantined:
        return f"\nit broke repeatedly: find the cause, then saltern chain release {name}"
    if status is Leg.PAUSED and known.state.paused:
        answers = f"saltern chain retry {name}, skip {name} ACTION or done {name} ACTION"
        return f"\nit waits: {known.state.paused}; {answers}; then saltern chain resume {name}"
    if status in (Leg.FAILED, Leg.INDETERMINATE, Leg.CANCELLED):
        again = f"\nsaltern chain retry {name} runs again the actions that are not done"
        return f"{again}; skip {name} ACTION leaves it out; done {name} ACTION declares it done"
    if status is Leg.QUEUED:
        return f"\nit waits for {known.state.behind or 'another chain'} to end"
    if status in OVER or at_work:
        return ""
    if status is Leg.RUNNING and any(busy.values()):
        return f"\nits process is gone; its programs still run. saltern chain resume {name} waits for them"
    if status is Leg.REBOOTING:
        return f"\nit continues after the reboot, or with saltern chain resume {name}"
    return f"\nsaltern chain resume {name} continues it"


def unread(leg: str) -> dict[str, object]:
    """The data of a leg whose journal is damaged."""
    return {"run": leg, "chain": "", "system": "", "status": DAMAGED, "at_work": False, "steps": []}


def summary(leg: str, known: KnownLeg | OperationError, *, at_work: bool = False) -> str:
    if not isinstance(known, KnownLeg):
        return LINE.format(leg, DAMAGED, "", "", "").rstrip()
    started = stamp(known.head["started"])
    plan = known.state.plan
    status = shown_status(known, at_work=at_work)
    return LINE.format(known.id, status, started, plan.chain.name, plan.system)
