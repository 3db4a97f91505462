"""``DOWNLOADS``: complete lists as files, of which a page shows a part; made and sent page by page."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Callable, Iterable
from operator import attrgetter

import msgspec
from msgspec import Struct

from saltern.fleet.console.row import Visit
from saltern.fleet.console.views.events import wanted_events

PIECE = 1000  # rows of a piece
MOST_EVENTS = 100_000
COLUMNS = ("id", "state", "chain", "run", "note", "online", "seen_at", "version", "booted_at")
_COLUMNS, _FACTS = attrgetter(*COLUMNS), msgspec.structs.astuple
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet would calculate


class Download(Struct, frozen=True, kw_only=True):
    """A row of ``DOWNLOADS``: ``pieces`` makes the file; ``action`` is what its reader needs."""

    path: str
    action: str
    file: str
    media: str
    pieces: Callable[[Visit], AsyncIterator[bytes]]


class _Facts(Struct):
    """Of the facts of a system those that are cells."""

    role: str | None = None
    roles: str | None = None
    site: str | None = None
    os: str | None = None
    osfinger: str | None = None
    kernelrelease: str | None = None


class _Row(Struct, kw_only=True):
    """A system: only what becomes a cell is decoded, because a file has ten thousand rows."""

    id: str
    state: str
    chain: str
    run: str
    note: str
    online: bool
    seen_at: float | None
    version: str
    booted_at: float | None
    needs: list[str]
    facts: _Facts


class _States(Struct):
    items: list[_Row]
    next: str | None


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
    head: list[Iterable[object]] = [(*COLUMNS, "needs", *_Facts.__struct_fields__)]
    asked = {"target": visit.query.get("t", "").strip(), "state": visit.query.get("state", "")}
    cursor: str | None = ""
    while cursor is not None:
        data = await visit.ask.get_bytes("/v1/states", **asked, limit=PIECE, cursor=cursor)
        page = msgspec.json.decode(data, type=_States)
        yield _csv([*head, *map(_cells, page.items)])
        head, cursor = [], page.next


def _cells(one: _Row) -> list[object]:
    values = (*_COLUMNS(one), ", ".join(one.needs), *_FACTS(one.facts))
    return [plain_cell(value) if type(value) is str and value[:1] in FORMULA else value for value in values]


def plain_cell(text: str) -> str:
    """A cell that no spreadsheet treats as a formula."""
    return f"'{text}" if text[:1] in FORMULA else text


def _csv(rows: Iterable[Iterable[object]]) -> bytes:
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
