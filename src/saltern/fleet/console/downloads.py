"""``DOWNLOADS``: lists of which a page shows a part, as whole files: made and sent page by page."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from saltern.fleet.console.row import Visit
from saltern.fleet.console.views.events import wanted_events

PIECE = 1000  # rows of a piece
MOST_EVENTS = 100_000
COLUMNS = ("id", "state", "chain", "run", "note", "online", "seen_at", "version")
FACTS = ("role", "roles", "site", "os", "osfinger", "kernelrelease")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet would calculate


class Download(Struct, frozen=True, kw_only=True):
    """A row of ``DOWNLOADS``: ``pieces`` makes the file; ``action`` is what its reader needs."""

    path: str
    action: str
    file: str
    media: str
    pieces: Callable[[Visit], AsyncIterator[bytes]]


class _Events(Struct):
    """A page of events; each event keeps the bytes that the API has sent."""

    items: list[msgspec.Raw]
    next: str | None = None


async def event_lines(visit: Visit) -> AsyncIterator[bytes]:
    """The events that the page of events shows, as JSON lines, the newest first."""
    wanted, cursor, sent = wanted_events(visit), "", 0
    while cursor is not None and sent < MOST_EVENTS:
        data = await visit.ask.get_bytes("/v1/history", **wanted, limit=PIECE, cursor=cursor)
        page = msgspec.json.decode(data, type=_Events)
        yield b"".join(bytes(one) + b"\n" for one in page.items)
        cursor, sent = page.next, sent + len(page.items)  # type: ignore[assignment]


async def system_rows(visit: Visit) -> AsyncIterator[bytes]:
    """The systems of a target as comma-separated values, what needs a person first."""
    head: list[Iterable[str]] = [(*COLUMNS, *FACTS)]
    asked = {"target": visit.query.get("t", "").strip(), "state": visit.query.get("state", "")}
    cursor: str | None = ""
    while cursor is not None:
        page = await visit.ask.get("/v1/states", **asked, limit=PIECE, cursor=cursor)
        yield _csv([*head, *(_cells(one) for one in page["items"])])
        head, cursor = [], page["next"]


def _cells(one: dict[str, Any]) -> list[str]:
    values = [*(one[name] for name in COLUMNS), *(one["facts"].get(name, "") for name in FACTS)]
    return [plain_cell("" if value is None else str(value)) for value in values]


def plain_cell(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def _csv(rows: Iterable[Iterable[str]]) -> bytes:
    made = io.StringIO()
    csv.writer(made).writerows(rows)
    return made.getvalue().encode()


DOWNLOADS = (
    Download(
        path="/events/export",
        action="events.read",
        file="events.jsonl",
        media="application/jsonl",
        pieces=event_lines,
    ),
    Download(
        path="/export/systems",
        action="systems.read",
        file="systems.csv",
        media="text/csv",
        pieces=system_rows,
    ),
)
