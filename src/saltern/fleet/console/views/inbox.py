"""What waits for a decision: the inbox, gates of runs, requests for approval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from saltern.fleet.api.problems import unknown
from saltern.fleet.console.ask import NAME, Ask
from saltern.fleet.console.list_marks import mark_of
from saltern.fleet.console.row import Act, Data, Form, Page, Topic, Visit
from saltern.fleet.console.views.offers import BAD
from saltern.fleet.console.views.plan import MOST, groups_of
from saltern.language.diagnostics import SalternError


async def gather_inbox(visit: Visit) -> Data:
    found = await visit.ask.get("/v1/inbox")
    items = [{**one, "path": path_of(one)} for one in found["items"]]
    return {
        "mine": [one for one in items if one["yours"]],
        "others": [one for one in items if not one["yours"]],
        "keys": found["keys"],
    }


# What waits → the page on which it is decided, with names of the row in braces.
PATHS = {
    "gate": "/inbox/gate/{run}/{gate}",
    "approval": "/inbox/request/{id}",
    "key": "/admin",
    "leg": "/runs/{run}/{about}",
    "run": "/runs/{run}",
}
DECIDED_HERE = ("gate", "approval")


def path_of(item: Data) -> str:
    """Where a thing of the inbox is decided."""
    return NAME.sub(lambda found: quote(str(item[found[1]]), safe=""), PATHS[item["kind"]])


def beside(items: Sequence[Data], id_: str) -> Data:
    """The place of a request among those that are decided on such a page, and its neighbours. Pure.

    One that is decided already has no place; the next is then the first that waits.
    """
    rows = [one for one in items if one["kind"] in DECIDED_HERE]
    at = next((n for n, one in enumerate(rows) if one["id"] == id_), None)
    before = rows[at - 1] if at else None
    after = rows[0 if at is None else at + 1 : 1 if at is None else at + 2]
    return {
        "number": None if at is None else at + 1,
        "of": len(rows),
        "previous": path_of(before) if before else "",
        "next": path_of(after[0]) if after else "",
    }


async def gather_gate(visit: Visit) -> Data:
    """A gate of a run: what it would do, on how many systems, who has voted."""
    run, name = visit.path["run"], visit.path["gate"]
    found = await visit.ask.get("/v1/chain-runs/{run}", run=run)
    gate = next((one for one in found["gates"] if one["gate"] == name), None)
    if gate is None:
        raise unknown(f"gate of run {run}", name)
    items = await _inbox(visit)
    item = _find_item(items, f"{run}/{name}")
    wave = next((one for one in found["waves"] if one["gate"] == name), None)
    legs = [leg for leg in found["legs"] if wave is None or leg["wave"] == wave["wave"]]
    plan = await _plan(visit.ask, found["plan_sha256"])
    text = await visit.ask.get("/v1/chains/{chain}/text", chain=found["chain"], version=found["version"])
    draft = await visit.ask.send("POST", "/v1/draft-chain", {"text": text["text"]})
    counts = _counts(found["legs"])
    return {
        "run": found,
        "gate": gate,
        "mark": gate_mark(found["gates"], counts),
        "has_topic_data": True,
        "item": item,
        "beside": beside(items, f"{run}/{name}"),
        "wave": wave,
        "systems": [leg["system"] for leg in legs],
        "counts": counts,
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


async def _inbox(visit: Visit) -> list[Data]:
    items: list[Data] = (await visit.ask.get("/v1/inbox"))["items"]
    return items


def _find_item(items: Sequence[Data], id_: str) -> Data | None:
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
    items = await _inbox(visit)
    item = _find_item(items, id_)
    why_not = "" if item and item["yours"] else item["why_not"] if item else f"it is {one['state']}"
    shown = {"mark": request_mark(one), "has_topic_data": True}
    return {"one": one, "why_not": why_not, "beside": beside(items, id_), **shown}


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


async def inbox_data(ask: Ask, names: Mapping[str, str], now: float) -> Data:  # noqa: ARG001
    """How many decisions wait: the same for all readers."""
    found = await ask.get("/v1/inbox/count")
    return {"waiting": found["waiting"]}


def gate_mark(gates: Sequence[Data], legs: Mapping[str, int]) -> Data:
    """What a voter should look at again: decisions on gates of the run, and systems that failed. Pure."""
    failed = sum(legs.get(one, 0) for one in BAD)
    return mark_of([("gates", [*((one["gate"], one["status"]) for one in gates), failed])])


async def gates_data(ask: Ask, names: Mapping[str, str], now: float) -> Data:  # noqa: ARG001
    """Whether a page of a gate is out of date. It is not moved while someone reads it."""
    found = await ask.get("/v1/chain-runs/{run}/shapes", run=names["run"], most=1)
    return {"mark": gate_mark(found["gates"], found["legs"])}


def request_mark(one: Data) -> Data:
    """What a voter should look at again: the votes of others, and what they decided. Pure."""
    return mark_of([("request", [one["state"], len(one["votes"])])])


async def request_data(ask: Ask, names: Mapping[str, str], now: float) -> Data:  # noqa: ARG001
    """Whether the page of a request is out of date."""
    rows = await ask.every("/v1/approvals")
    return {"mark": request_mark(next(row for row in rows if row["id"] == names["approval"]))}


INBOX_TOPICS = (
    Topic(
        name="inbox",
        action="approvals.read",
        gather=inbox_data,
        parts=("inbox-count",),
        tags=("salt/key", "salt/auth", "saltern/chain", "saltern/approval"),
    ),
    Topic(
        name="gates/{run}",
        action="approvals.read",
        gather=gates_data,
        parts=("list-mark",),
        tags=("saltern/chain/{run}/",),
    ),
    Topic(
        name="request/{approval}",
        action="approvals.read",
        gather=request_data,
        parts=("list-mark",),
        tags=("saltern/approval/{approval}",),
    ),
)
_GATE = "/v1/chain-runs/{run}/gates/{gate}/votes"
INBOX_PAGES = (
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
        topic="gates/{run}",
    ),
    Page(
        path="/inbox/request/{approval}",
        name="Request",
        here="Inbox",
        action="approvals.read",
        gather=gather_request,
        template="request.html",
        topic="request/{approval}",
    ),
)
INBOX_ACTS = (
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
)
