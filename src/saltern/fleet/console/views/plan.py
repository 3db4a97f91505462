"""What a chain would do, equal results as one; and what waits for a decision: gates, requests, the inbox."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from saltern.fleet.api.problems import unknown
from saltern.fleet.console.ask import Ask
from saltern.fleet.console.row import Act, Data, Form, Page, Topic, Visit
from saltern.fleet.console.views.chains import count_target, rollout_of
from saltern.language.diagnostics import SalternError

SOME = 12
MOST = 40  # groups that are shown
# What a step would do → the mark of a group, the worst first.
WOULD = (
    ("fail", "failed"),
    ("unknown", "unknown"),
    ("reboot", "reboot"),
    ("update", "update"),
    ("change", "changed"),
)


# -- groups of equal plans -------------------------------------------------------------------------------


def groups_of(systems: Sequence[Data], unplanned: dict[str, str]) -> list[Data]:
    """Systems with equal steps as one, the largest first; those that could not be asked by why."""
    found: dict[str, Data] = {}
    for one in systems:
        key = json.dumps([_bare(step, one["system"]) for step in one["steps"]], sort_keys=True)
        group = found.setdefault(key, {"systems": [], "steps": one["steps"], "why": "", "mark": ""})
        group["systems"].append(one["system"])
    for group in found.values():
        group["mark"] = mark_of(group["steps"])
        group["head"], group["sub"] = headline(group["steps"])
    away: dict[str, Data] = {}
    for system, why in unplanned.items():
        group = away.setdefault(why, {"systems": [], "steps": [], "why": why, "mark": "away"})
        group["head"], group["sub"] = "could not be asked", why
        group["systems"].append(system)
    rows = [*found.values(), *away.values()]
    return sorted(rows, key=lambda one: -len(one["systems"]))


def _bare(step: Data, system: str) -> Data:
    """A step without what differs between systems: their names, and how long it took."""
    kept = {key: value for key, value in step.items() if key not in ("took", "started", "ended")}
    return {
        key: value.replace(system, "\0") if isinstance(value, str) else value for key, value in kept.items()
    }


def would_of(step: Data) -> str:
    """The first word of what a step would do: change, reboot, fail; empty if nothing."""
    text = str(step.get("would") or "")
    return text.partition(" ")[0].rstrip(",")


def mark_of(steps: Sequence[Data]) -> str:
    words = {would_of(step) for step in steps}
    return next(
        (mark for word, mark in WOULD if word in words), "changed" if words - {"", "look", "wait"} else "ok"
    )


def headline(steps: Sequence[Data]) -> tuple[str, str]:
    """``2 steps change, a reboot``, and what the first of them say."""
    counted: dict[str, int] = {}
    for step in steps:
        if word := would_of(step):
            counted[word] = counted.get(word, 0) + 1
    acts = [f"{number} would {word}" for word, number in counted.items() if word not in ("look", "wait")]
    said = [
        f"{step['action']}: {_line(step)}" for step in steps if would_of(step) not in ("", "look", "wait")
    ]
    return ", ".join(acts) or "nothing to do", "; ".join(said[:2])


def _line(step: Data) -> str:
    text = str(step.get("comment") or step.get("would") or "").strip()
    return text.splitlines()[0][:120] if text else ""


def totals(groups: Sequence[Data]) -> dict[str, int]:
    found: dict[str, int] = {}
    for group in groups:
        found[group["mark"]] = found.get(group["mark"], 0) + len(group["systems"])
    return found


async def gather_plan(visit: Visit) -> Data:
    """A plan that is kept: groups, the chosen one, what it rests on."""
    plan = await visit.ask.get("/v1/chain-plans/{plan}", plan=visit.path["plan"])
    groups = groups_of(plan["systems"], plan["unplanned"])
    number = visit.query.get("group", "")
    chosen = int(number) if number.isascii() and number.isdigit() and int(number) < len(groups) else 0
    return {
        "plan": plan,
        "groups": groups[:MOST],
        "more": groups[MOST:],
        "chosen": chosen,
        "totals": totals(groups),
        "systems": len(plan["systems"]) + len(plan["unplanned"]),
        "may_run": "operator" in visit.me["roles"] or "admin" in visit.me["roles"],
    }


async def gather_plans(visit: Visit) -> Data:
    page = await visit.ask.get("/v1/chain-plans", limit=100, cursor=visit.query.get("after", ""))
    return {"plans": page["items"], "next": page["next"]}


# -- the inbox ------------------------------------------------------------------------------------------


async def gather_inbox(visit: Visit) -> Data:
    found = await visit.ask.get("/v1/inbox")
    mine = [one for one in found["items"] if one["yours"]]
    return {
        "mine": mine,
        "others": [one for one in found["items"] if not one["yours"]],
        "keys": found["keys"],
    }


async def gather_gate(visit: Visit) -> Data:
    """A gate of a run: what it would do, on how many systems, who has voted."""
    run, name = visit.path["run"], visit.path["gate"]
    found = await visit.ask.get("/v1/chain-runs/{run}", run=run)
    gate = next((one for one in found["gates"] if one["gate"] == name), None)
    if gate is None:
        raise unknown(f"gate of run {run}", name)
    item = await _waiting(visit, f"{run}/{name}")
    wave = next((one for one in found["waves"] if one["gate"] == name), None)
    legs = [leg for leg in found["legs"] if wave is None or leg["wave"] == wave["wave"]]
    plan = await _plan(visit.ask, found["plan_sha256"])
    text = await visit.ask.get("/v1/chains/{chain}/text", chain=found["chain"], version=found["version"])
    draft = await visit.ask.send("POST", "/v1/draft-chain", {"text": text["text"]})
    return {
        "run": found,
        "gate": gate,
        "item": item,
        "wave": wave,
        "systems": [leg["system"] for leg in legs],
        "counts": _counts(found["legs"]),
        "failed": [leg for leg in found["legs"] if leg["status"] in ("failed", "indeterminate", "expired")],
        "plan": plan,
        "groups": groups_of(_of(plan["systems"], legs), {})[:MOST] if plan else [],
        "draft": draft,
        "why_not": "" if item and item["yours"] else item["why_not"] if item else f"it is {gate['status']}",
    }


def _of(systems: Sequence[Data], legs: Sequence[Data]) -> list[Data]:
    names = {leg["system"] for leg in legs}
    return [one for one in systems if one["system"] in names]


def _counts(legs: Sequence[Data]) -> dict[str, int]:
    found: dict[str, int] = {}
    for leg in legs:
        found[leg["status"]] = found.get(leg["status"], 0) + 1
    return found


async def _waiting(visit: Visit, id_: str) -> Data | None:
    items: list[Data] = (await visit.ask.get("/v1/inbox"))["items"]
    return next((one for one in items if one["id"] == id_), None)


async def _plan(ask: Ask, digest: str) -> Data | None:
    """The kept plan that a run was made from; None if it was made without one."""
    if not digest:
        return None
    try:
        found: Data = await ask.get("/v1/chain-plans/{plan}", plan=digest)
    except SalternError:
        return None
    return found


async def gather_request(visit: Visit) -> Data:
    """A request for approval of a job: what it would run, where, who has voted."""
    found = await visit.ask.every("/v1/approvals")
    id_ = visit.path["approval"]
    one = next((row for row in found if row["id"] == id_), None)
    if one is None:
        raise unknown("request for approval", id_)
    item = await _waiting(visit, id_)
    why_not = "" if item and item["yours"] else item["why_not"] if item else f"it is {one['state']}"
    return {"one": one, "why_not": why_not}


# -- acts -----------------------------------------------------------------------------------------------


async def _gate_count(ask: Ask, form: Form) -> int:
    """How many systems a gate lets begin, as the page says it."""
    run = await ask.get("/v1/chain-runs/{run}", run=form.path["run"])
    wave = next((one["wave"] for one in run["waves"] if one["gate"] == form.path["gate"]), None)
    return sum(wave is None or leg["wave"] == wave for leg in run["legs"])


async def _request_count(ask: Ask, form: Form) -> int:
    found = await ask.every("/v1/approvals")
    return next((len(one["systems"]) for one in found if one["id"] == form.path["approval"]), 0)


def _vote(form: Form) -> Data:
    approves = form.text("vote") == "approve"
    return {"approves": approves, "plan_sha256": form.text("digest"), "reason": form.text("reason")}


def _plan_body(form: Form) -> Data:
    return {"chain": form.path["chain"], "target": form.text("target"), "rollout": rollout_of(form)}


async def _planned_count(ask: Ask, form: Form) -> int:
    plan = await ask.get("/v1/chain-plans/{plan}", plan=form.path["plan"])
    return len(plan["systems"])


async def inbox_data(ask: Ask, names: Mapping[str, str], now: float) -> Data:  # noqa: ARG001
    """How many decisions wait: the same for all readers."""
    found = await ask.get("/v1/inbox")
    return {"waiting": len(found["items"])}


PLAN_TOPICS = (
    Topic(
        name="inbox",
        action="approvals.read",
        gather=inbox_data,
        parts=("inbox-count",),
        tags=("salt/key", "salt/auth", "saltern/chain", "saltern/approval"),
    ),
)
_GATE = "/v1/chain-runs/{run}/gates/{gate}/votes"
PLAN_PAGES = (
    Page(
        path="/inbox",
        name="Inbox",
        action="approvals.read",
        gather=gather_inbox,
        template="inbox.html",
        topic="inbox",
    ),
    Page(
        path="/inbox/gate/{run}/{gate}",
        name="Gate",
        here="Inbox",
        action="approvals.read",
        gather=gather_gate,
        template="gate.html",
    ),
    Page(
        path="/inbox/request/{approval}",
        name="Request",
        here="Inbox",
        action="approvals.read",
        gather=gather_request,
        template="request.html",
    ),
    Page(
        path="/plans",
        name="Plans",
        here="Chains",
        action="jobs.read",
        gather=gather_plans,
        template="plans.html",
    ),
    Page(
        path="/plans/{plan}",
        name="Plan",
        here="Chains",
        action="jobs.read",
        gather=gather_plan,
        template="plan.html",
    ),
)
PLAN_ACTS = (
    Act(
        path="/inbox/gate/{run}/{gate}/approve",
        method="POST",
        route=_GATE,
        body=_vote,
        count=_gate_count,
        then="/inbox",
        did="Your approval is counted",
    ),
    Act(
        path="/inbox/gate/{run}/{gate}/reject",
        method="POST",
        route=_GATE,
        body=_vote,
        then="/inbox",
        did="It is rejected",
    ),
    Act(
        path="/inbox/request/{approval}/approve",
        method="POST",
        route="/v1/approvals/{approval}/approve",
        body=lambda form: {"why": form.text("reason")},
        count=_request_count,
        then="/inbox",
        did="Your approval is counted",
    ),
    Act(
        path="/inbox/request/{approval}/reject",
        method="POST",
        route="/v1/approvals/{approval}/reject",
        body=lambda form: {"why": form.text("reason")},
        then="/inbox",
        did="It is rejected",
    ),
    Act(
        path="/chains/{chain}/plan",
        method="POST",
        route="/v1/chain-plans",
        body=_plan_body,
        count=count_target,
        then="/plans/{plan}",
        did="The systems are asked what they would do",
    ),
    Act(
        path="/plans/{plan}/run",
        method="POST",
        route="/v1/chain-runs",
        body=lambda form: {"plan": form.text("digest")},
        count=_planned_count,
        then="/runs/{run}",
        did="The run is begun",
    ),
)
