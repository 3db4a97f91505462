"""Chains: the list, one chain with its versions and runs, and the form that starts a run."""

from __future__ import annotations

import json

from saltern.fleet.console.ask import Ask
from saltern.fleet.console.forms import number_of, whole_of
from saltern.fleet.console.row import Act, Data, Form, Page, Visit

LATEST = 60  # runs that are read to find the last ones of each chain
SHOWN = 8
FAILED = ("failed", "indeterminate", "expired")


async def gather_list(visit: Visit) -> Data:
    """Every chain with its last runs."""
    archived = visit.query.get("archived") == "1"
    page = await visit.ask.get(
        "/v1/chains", archived=archived, limit=100, cursor=visit.query.get("after", "")
    )
    runs = (await visit.ask.get("/v1/chain-runs", limit=LATEST))["items"] if visit.may("jobs.read") else []
    by_chain: dict[str, list[Data]] = {}
    for run in runs:
        by_chain.setdefault(run["chain"], []).append(run)
    return {
        "chains": page["items"],
        "next": page["next"],
        "runs": by_chain,
        "archived": archived,
        **_passed_values(visit),
    }


def _passed_values(visit: Visit) -> Data:
    """What another page passes on: an action to add to a chain, or a target."""
    add, target = (visit.query.get(key, "").strip() for key in ("add", "target"))
    try:
        action = json.loads(add) if add else None
    except ValueError:
        action = None
    kind = next(iter(action), "") if isinstance(action, dict) else ""
    return {"add": add if kind else "", "add_kind": str(kind), "target": target}


async def gather_one(visit: Visit) -> Data:
    """A chain: what it does, its versions, its runs, its schedules."""
    name, ask = visit.path["chain"], visit.ask
    chain = await ask.get("/v1/chains/{chain}", chain=name)
    number = visit.query.get("version", "")
    version = await ask.get(
        "/v1/chains/{chain}/text", chain=name, version=number if number.isdigit() else None
    )
    draft = await ask.send("POST", "/v1/draft-chain", {"text": version["text"]})
    versions = await ask.every("/v1/chains/{chain}/versions", chain=name)
    runs = (
        (await ask.get("/v1/chain-runs", chain=name, limit=SHOWN))["items"] if visit.may("jobs.read") else []
    )
    return {
        "chain": chain,
        "version": version,
        "draft": draft,
        "versions": versions[::-1],
        "runs": runs,
        "usual": await ask.get("/v1/chains/{chain}/usual", chain=name),
        "schedules": [one for one in await _schedules(visit) if one["chain"] == chain["name"]],
        "target": await _target(visit, chain, version),
        "may_run": "operator" in visit.me["roles"] or "admin" in visit.me["roles"],
    }


async def _schedules(visit: Visit) -> list[Data]:
    return await visit.ask.every("/v1/schedules") if visit.may("schedules.read") else []


async def _target(visit: Visit, chain: Data, version: Data) -> Data:
    """Who is meant by the target that is in the address, and when they may begin; nothing without one."""
    target, ask = visit.query.get("target", "").strip(), visit.ask
    if not target:
        return {"text": "", "systems": 0, "groups": [], "findings": []}
    why = await ask.get("/v1/windows-why", target=target, chain=chain["name"])
    if version["number"] != chain["version"]:  # the newest one is run, whatever is looked at
        version = await ask.get("/v1/chains/{chain}/text", chain=chain["name"])
    found = await ask.send("POST", "/v1/validate-chain", {"text": version["text"], "target": target})
    return {"text": target, "systems": why["systems"], "groups": why["groups"], "findings": found["findings"]}


async def gather_diff(visit: Visit) -> Data:
    """What differs between two versions."""
    name = visit.path["chain"]
    old, new = (visit.query.get(key, "") for key in ("old", "new"))
    given = {key: value for key, value in (("old", old), ("new", new)) if value.isdigit()}
    return {"name": name, "diff": await visit.ask.get("/v1/chains/{chain}/diff", chain=name, **given)}


# -- a run ----------------------------------------------------------------------------------------------


def rollout_of(form: Form) -> Data:
    """The rollout from the fields of a form; empty fields keep the default."""
    found: Data = {}
    if waves := form.text("waves").replace(",", " ").split():
        found["waves"] = [_share(one) for one in waves]
    for name in ("max_in_flight", "max_failures"):
        if form.text(name):
            found[name] = _share(form.text(name))
    if form.text("soak"):
        found["soak"] = number_of(form.text("soak"))
    if form.is_on("gated"):
        found["wave_gate"] = {"needed": whole_of(form.text("needed") or "1")}
    return found


def _share(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


def _run_body(form: Form) -> Data:
    return {"chain": form.path["chain"], "target": form.text("target"), "rollout": rollout_of(form)}


async def count_target(ask: Ask, form: Form) -> int:
    """How many systems the target matches now."""
    found = await ask.send("POST", "/v1/resolve", {"target": form.text("target")})
    return len(found["systems"])


CHAIN_PAGES = (
    Page(
        path="/chains",
        name="Chains",
        action="chains.read",
        gather=gather_list,
        template="chains.html",
        topic="list/chains",
    ),
    Page(
        path="/chains/{chain}",
        name="Chain",
        here="Chains",
        action="chains.read",
        gather=gather_one,
        template="chain.html",
    ),
    Page(
        path="/chains/{chain}/diff",
        name="Differences",
        here="Chains",
        action="chains.read",
        gather=gather_diff,
        template="chain_diff.html",
    ),
)
CHAIN_ACTS = (
    Act(
        path="/chains/{chain}/run",
        method="POST",
        route="/v1/chain-runs",
        body=_run_body,
        count=count_target,
        then="/runs/{run}",
        did="The run is started",
    ),
    Act(
        path="/chains/{chain}/archive",
        method="POST",
        route="/v1/chains/{chain}/archive",
        body=lambda form: {"undo": form.is_on("undo")},
        then="/chains",
        did="It is done; versions and runs of the chain stay",
    ),
)
