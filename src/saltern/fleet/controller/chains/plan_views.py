"""Views of plans: read from the database, nothing decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import json

from saltern.fleet.controller.chains.plan_desk import find_row
from saltern.fleet.controller.chains.plan_keeper import unfinished_systems
from saltern.fleet.controller.chains.plan_seal import signer_of
from saltern.fleet.store import chain_plans
from saltern.fleet.store.chains import chain_named
from saltern.fleet.store.database import Connection

Row = Mapping[str, Any]
SAME = ("sha256", "version", "target", "author", "created")


def list_plans(connection: Connection, *, chain: str, before: str, limit: int) -> list[dict[str, Any]]:
    """Plans, the newest first."""
    known = chain_named(connection, chain) if chain else None
    if chain and known is None:
        return []
    rows = chain_plans.plan_rows(connection, chain=known.id if known else "", before=before, limit=limit)
    return [_head(connection, row) for row in rows]


def _head(connection: Connection, row: Row) -> dict[str, Any]:
    known = chain_named(connection, row["chain"])
    return {
        "plan": row["id"],
        "status": "ready" if row["sha256"] else "open",
        "chain": known.name if known else row["chain"],
        **{name: row[name] for name in SAME},
    }


def show_plan(connection: Connection, name: str) -> dict[str, Any]:
    """One plan with what each system would do; raises if there is none."""
    row = find_row(connection, name)
    body = json.decode(row["body"])
    return {**_head(connection, row), **(_ready(body) if row["sha256"] else _open(connection, row, body))}


ASKED = ("pinned", "environment", "tree", "inputs", "rollout")


def _ready(body: Row) -> dict[str, Any]:
    plan = body["plan"]
    systems = [
        {"system": name, "steps": one["steps"], "facts": one["facts"]}
        for name, one in plan["systems"].items()
    ]
    return {
        **{name: plan[name] for name in ASKED},
        "waiting": [],
        "systems": systems,
        "unplanned": plan["unplanned"],
        "estimate": body["estimate"],
        "signer": signer_of(body),
    }


def _open(connection: Connection, row: Row, body: Row) -> dict[str, Any]:
    nothing: dict[str, Any] = {"systems": [], "unplanned": {}, "estimate": {}, "signer": ""}
    asked = {name: body["request"][name] for name in ASKED}
    return {**asked, **nothing, "waiting": unfinished_systems(connection, row["id"])}
