"""What systems returned, unpacked."""

from __future__ import annotations

import zlib
from typing import Any

import msgspec
from msgspec.structs import asdict

from saltern.fleet.api.job_shapes import ReturnAnswer
from saltern.fleet.protocol.codec import MAX_BODY, BadMessage, check_depth
from saltern.fleet.store import job_queries, listings
from saltern.fleet.store.job_queries import TargetRow

PAGE_BYTES = 4 * 1024 * 1024  # a page of returns ends after the one that passes this


def returns_page(connection: Any, jid: str, after: str, limit: int) -> tuple[list[ReturnAnswer], int]:
    """Returns by system, and 1 if there are more than these; else 0. The page ends early if it gets large."""
    found: list[ReturnAnswer] = []
    size = 0
    for row in listings.returned_after(connection, jid, after, limit + 1):
        if len(found) == limit or size > PAGE_BYTES:
            return [*found, _bare(row)], 1
        packed = job_queries.body(connection, jid, row.system)
        if packed is not None:
            size += len(packed[1])
            found.append(_answer(row, packed))
    return found, 0


def make_return(connection: Any, row: TargetRow) -> ReturnAnswer | None:
    """What a system returned for a job; None until all of it is here."""
    packed = job_queries.body(connection, row.jid, row.system)
    return _answer(row, packed) if packed is not None else None


def _answer(row: TargetRow, packed: tuple[str, bytes]) -> ReturnAnswer:
    return ReturnAnswer(**asdict(row), body=unpacked(*packed))


def _bare(row: TargetRow) -> ReturnAnswer:
    return ReturnAnswer(**asdict(row), body=None)


def unpacked(encoding: str, data: bytes, limit: int = MAX_BODY) -> object:
    """The value of a body; what cannot be read is replaced by a text that says so."""
    try:
        if encoding == "json+zlib":
            data = zlib.decompressobj().decompress(data, limit)
        check_depth(data)
        return msgspec.json.decode(data) if data else None
    except (zlib.error, BadMessage, msgspec.DecodeError, UnicodeDecodeError) as problem:
        return f"(the body of this return cannot be read: {problem})"
