"""Systems: those that a target matches, their states, and the page of one system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.fleet.api.problems import ApiError
from saltern.fleet.console.row import Act, Data, Visit
from saltern.fleet.console.views.boots import gather_boots
from saltern.fleet.console.views.drift import gather_drift
from saltern.fleet.console.views.offers import buttons, leg_offers
from saltern.language.diagnostics import SalternError

PAGE = 100
NOTHING: Data = {
    "items": [], "next": None, "first": 0, "total": 0, "states": {},
}  # fmt: skip
CHIEF = (
    "role", "roles", "site", "rack", "cluster", "osfinger", "kernelrelease", "fqdn", "ipv4", "cpu_model",
    "num_cpus", "mem_total", "virtual", "init",
)  # fmt: skip
HEAD = ("os", "osfinger", "osrelease", "kernelrelease", "role", "roles", "site", "rack")
REASONS = 5  # why a reboot is due, as far as they are shown


async def gather_list(visit: Visit) -> Data:
    """The target bar with its count, facts to narrow it, and the systems, the worst first."""
    target = visit.query.get("t", "").strip()
    state = visit.query.get("state", "")
    problem = None
    page = NOTHING
    try:
        glance = await visit.ask.get("/v1/glance", target=target, versions="false")
        cursor = visit.query.get("cursor", "")
        page = await visit.ask.get("/v1/states", target=target, state=state, limit=PAGE, cursor=cursor)
    except SalternError as refused:
        if isinstance(refused, ApiError) and refused.status in (401, 403):
            raise
        problem = refused.diagnostics[0]
        glance = await visit.ask.get("/v1/glance", versions="false")
    groups = await visit.ask.every("/v1/groups") if visit.may("groups.read") else []
    return {
        "target": target,
        "state": state,
        "glance": glance,
        "page": page,
        "problem": problem,
        "groups": groups,
        "is_first_day": glance["total"] == 0,
    }


async def gather_system(visit: Visit) -> Data:
    """One system: the run that holds it, its runs with the result here, its facts with their age."""
    id_ = visit.path["system"]
    system = await visit.ask.get("/v1/systems/{system}", system=id_)
    facts = await _facts(visit, id_)
    legs = await visit.ask.get("/v1/systems/{system}/legs", system=id_, limit=30)
    jobs = await visit.ask.get("/v1/jobs", system=id_, limit=10) if visit.may("jobs.read") else {"items": []}
    window = await _window(visit, id_) if system["state"] == "accepted" else None
    holding = next((one for one in legs["items"] if needs(one)), None)
    return {
        "system": system,
        "facts": facts,
        "grains": flat(facts["grains"]) if facts else [],
        "chief": flat(_some(facts, CHIEF)),
        "head": _some(facts, HEAD),
        "boot": boot(facts["grains"] if facts else {}),
        "legs": legs["items"],
        "more_legs": legs["next"],
        "holding": holding,
        "buttons": await _buttons(visit, id_, holding),
        "jobs": jobs["items"],
        "window": window,
        "boots": await gather_boots(visit, id_, legs["items"]),
        "drift": await gather_drift(visit, id_, jobs["items"]),
    }


def boot(grains: Mapping[str, Any]) -> Data:
    """When a system booted, and why it should again: its own claims, which may be of any type."""
    at, reasons = grains.get("booted_at"), grains.get("reboot_reasons")
    some = list(map(str, reasons)) if isinstance(reasons, list) else []
    return {
        "at": at if type(at) is int and 0 < at < 4e9 else None,
        "due": grains.get("reboot_due") is True,
        "reasons": some[:REASONS],
        "more": len(some[REASONS:]),
    }


def _some(facts: Data | None, names: tuple[str, ...]) -> Data:
    grains = facts["grains"] if facts else {}
    return {name: grains[name] for name in names if name in grains}


def needs(leg: Mapping[str, Any]) -> bool:
    """True if a leg holds its system or waits for a person: its run is open, and not done here."""
    fine = ("succeeded", "succeeded with skips", "cancelled")
    over = ("succeeded", "partial", "failed", "cancelled", "expired")
    return leg["status"] not in fine and leg["run_status"] not in over


async def _buttons(visit: Visit, id_: str, holding: Data | None) -> Data:
    """What can be ordered of the leg that holds it."""
    if holding is None:
        return {}
    leg = await visit.ask.get("/v1/chain-runs/{run}/legs/{system}", run=holding["run"], system=id_)
    return buttons(leg_offers(leg), visit)


async def _facts(visit: Visit, id_: str) -> Data | None:
    try:
        found: Data = await visit.ask.get("/v1/systems/{system}/facts", system=id_)
    except ApiError as problem:
        if problem.status != 404:
            raise
        return None
    return found


async def _window(visit: Visit, id_: str) -> Data | None:
    if not visit.may("windows.read"):
        return None
    page = await visit.ask.get("/v1/windows-check", target=f"L@{id_}", limit=1, count=1)
    found: Data | None = page["items"][0] if page["items"] else None
    return found


def flat(grains: Mapping[str, Any], most: int = 400) -> list[tuple[str, str]]:
    """Facts as dotted names and texts, by name."""
    found: list[tuple[str, str]] = []

    def walk(name: str, value: Any, depth: int) -> None:
        if len(found) >= most:
            return
        if isinstance(value, dict) and depth < 3:
            for key, one in sorted(value.items(), key=lambda pair: str(pair[0])):
                walk(f"{name}:{key}" if name else str(key), one, depth + 1)
        else:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            found.append((name, text[:500]))

    walk("", grains, 0)
    return found


SYSTEM_ACTS = (
    Act(
        path="/systems/targets",
        method="POST",
        route="/v1/groups",
        body=lambda form: {"name": form.text("name"), "target": form.text("target")},
        then="/systems?t=%40{name}",
        did="The target is saved",
    ),
)
