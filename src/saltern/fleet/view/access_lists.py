"""Lists about permission, for people: operators, API tokens, approvals, versions of the policy, the audit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from saltern.fleet.view.tables import Cell, Listing, Row, listed_by
from saltern.fleet.view.words import moment, names


def _text(name: str) -> Cell:
    return lambda row, _now: str(row[name])


def _time(name: str) -> Cell:
    return lambda row, now: moment(row[name], now) if row[name] else "never"


def _names(name: str, none: str = "") -> Cell:
    return lambda row, _now: names(row[name]) if row[name] else none


def _state(row: Row, _now: float) -> str:
    return (
        "disabled" if row["disabled"] else "password" if row["has_password"] else "tokens or another way in"
    )


def _scopes(row: Row, _now: float) -> str:
    return "all" if row["scopes"] is None else ", ".join(row["scopes"]) or "nothing"


def _votes(row: Row, _now: float) -> str:
    given = [f"{'' if vote['approves'] else 'not '}{vote['who']}" for vote in row["votes"]]
    count = sum(vote["approves"] for vote in row["votes"])
    return f"{count} of {row['needed']}" + (f" ({', '.join(given)})" if given else "")


def _arguments(row: Row, _now: float) -> str:
    shown = {key: value for key, value in row["shown"].items() if value}
    return f"{row['function']} {json.dumps(shown, ensure_ascii=False)}"


def _detail(row: Row, _now: float) -> str:
    return ", ".join(f"{key}={value}" for key, value in row["detail"].items())


LISTS: dict[str, Listing] = {
    "operators": (
        ("operator", "roles", "groups", "logs in with", "changed", "note"),
        (
            _text("name"),
            _names("roles", "none"),
            _names("groups"),
            _state,
            _time("changed_at"),
            _text("note"),
        ),
        "no operators: `saltern operators add NAME --role viewer` makes one",
    ),
    "tokens": (
        ("token", "kind", "operator", "label", "made", "until", "last used", "scopes"),
        (
            _text("id"),
            _text("kind"),
            _text("operator"),
            _text("label"),
            _time("made_at"),
            _time("expires"),
            _time("last_used"),
            _scopes,
        ),
        "no sessions and no API tokens",
    ),
    "approvals": (
        ("request", "state", "asked by", "until", "approved", "systems", "what"),
        (
            _text("id"),
            _text("state"),
            _text("asked_by"),
            _time("expires"),
            _votes,
            _names("systems"),
            _arguments,
        ),
        "no requests",
    ),
    "versions": (
        ("version", "made", "by", "source", "digest"),
        (_text("version"), _time("made_at"), _text("made_by"), _text("source"), _text("digest")),
        "no policy: only admins may run jobs",
    ),
    "audit": (
        ("row", "at", "who", "action", "what"),
        (_text("number"), _time("at"), _text("who"), _text("action"), _detail),
        "the audit is empty",
    ),
}


def list_lines(name: str, rows: Iterable[Row], now: float, width: int = 0) -> Iterator[str]:
    """A list by the table ``LISTS``; a sentence if it is empty."""
    return listed_by(LISTS[name], rows, now, width)
