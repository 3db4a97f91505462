"""What a chain would do: a dry run on each system, equal results as one."""

from __future__ import annotations

import json
from collections.abc import Sequence

from saltern.fleet.console.ask import Ask
from saltern.fleet.console.row import Act, Data, Form, Page, Visit
from saltern.fleet.console.views.chains import count_target, rollout_of

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
    """Groups of systems with equal steps, the largest first; those that could not be asked, by reason."""
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
    """A step without what differs between systems: their names and durations."""
    kept = {key: value for key, value in step.items() if key not in ("took", "started", "ended")}
    return {
        key: value.replace(system, "\0") if isinstance(value, str) else value for key, value in kept.items()
    }


def would_of(step: Data) -> str:
    """What a step would do in one word: change, reboot, fail; empty if nothing."""
    text = str(step.get("would") or "")
    return text.partition(" ")[0].rstrip(",")


def mark_of(steps: Sequence[Data]) -> str:
    words = {would_of(step) for step in steps}
    return next(
        (mark for word, mark in WOULD if word in words), "changed" if words - {"", "look", "wait"} else "ok"
    )


def headline(steps: Sequence[Data]) -> tuple[str, str]:
    """``2 steps change, a reboot``, and the messages of the first of them."""
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
    """A stored plan: its groups, the selected one, and what the plan depends on."""
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


# -- acts -----------------------------------------------------------------------------------------------


def _plan_body(form: Form) -> Data:
    return {"chain": form.path["chain"], "target": form.text("target"), "rollout": rollout_of(form)}


async def _planned_count(ask: Ask, form: Form) -> int:
    plan = await ask.get("/v1/chain-plans/{plan}", plan=form.path["plan"])
    return len(plan["systems"])


PLAN_PAGES = (
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
        did="The run is started",
    ),
)
