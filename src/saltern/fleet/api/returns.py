"""What systems returned, unpacked."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import asdict

from saltern.fleet.api.job_shapes import ReturnAnswer
from saltern.fleet.protocol.codec import MAX_BODY, BadMessage, check_depth
from saltern.fleet.store import job_queries, listings
from saltern.fleet.store.job_queries import TargetRow

T = TypeVar("T")
PAGE_BYTES = 4 * 1024 * 1024  # unpacked: a page of returns ends after the one that exceeds this
GROUP_BYTES, AT_ONCE = 256 * 1024, 500  # packed, and returns: what one query reads
MOST_VALUES = 3_000_000  # in one body: each takes a hundred bytes and more


def returns_page(connection: Any, jid: str, after: str, limit: int) -> tuple[list[ReturnAnswer], int]:
    """Returns by system, and 1 if there are more, else 0: the last one is then the next page's first, without
    its body. The page ends early if it gets large.
    """
    found, following = read_returns(connection, jid, after, limit, _answer)
    return (found, 0) if following is None else ([*found, _answer(following, None)], 1)


def read_returns(
    connection: Any, jid: str, after: str, limit: int, make: Callable[[TargetRow, object], T]
) -> tuple[list[T], TargetRow | None]:
    """What is made of each return of a page, from its row and its body; and the first row that follows."""
    found: list[T] = []
    size = 0
    for row, packed in _packed_returns(connection, jid, after, limit + 1):
        if len(found) == limit or size > PAGE_BYTES:
            return found, row
        if packed is not None:
            data, problem = inflate(*packed)
            size += len(data)
            found.append(make(row, problem or _value(data)))
    return found, None


def _packed_returns(
    connection: Any, jid: str, after: str, at_once: int
) -> Iterator[tuple[TargetRow, tuple[str, bytes] | None]]:
    """All returns after a system, read some at once; of those whose parts are not all there, only the row."""
    while True:
        rows = listings.returned_after(connection, jid, after, at_once)
        yield from _with_bodies(connection, jid, rows)
        if len(rows) < at_once:
            return
        after = rows[-1].system


def _with_bodies(
    connection: Any, jid: str, rows: list[TargetRow]
) -> Iterator[tuple[TargetRow, tuple[str, bytes] | None]]:
    """Each return with its body; several small bodies are read in one query."""
    sizes: dict[str, int] = {}
    for first in range(0, len(rows), AT_ONCE):
        systems = [row.system for row in rows[first : first + AT_ONCE]]
        sizes |= job_queries.body_sizes(connection, jid, systems)
    for group in split_by_size(rows, lambda row: sizes.get(row.system, 0)):
        packed = job_queries.bodies(connection, jid, [row.system for row in group])
        yield from ((row, packed.get(row.system)) for row in group)


def split_by_size(rows: Sequence[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """Split into groups in order, each up to a number of bytes; a larger item is a group of its own."""
    group: list[T] = []
    total = 0
    for row in rows:
        if group and (len(group) == AT_ONCE or total + size(row) > GROUP_BYTES):
            yield group
            group, total = [], 0
        group.append(row)
        total += size(row)
    if group:
        yield group


def make_return(connection: Any, row: TargetRow) -> ReturnAnswer | None:
    """What a system returned for a job; None until all parts have arrived."""
    packed = job_queries.body(connection, row.jid, row.system)
    return _answer(row, unpack_value(*packed)) if packed is not None else None


def _answer(row: TargetRow, body: object) -> ReturnAnswer:
    return ReturnAnswer(**asdict(row), body=body)


def unpack_value(encoding: str, data: bytes, limit: int = MAX_BODY) -> object:
    """The value of a body; if it cannot be read, a text that says so."""
    whole, problem = inflate(encoding, data, limit)
    return problem or _value(whole)


def inflate(encoding: str, data: bytes, limit: int = MAX_BODY) -> tuple[bytes, str]:
    """The JSON of a body; for one that is damaged or longer than the limit, a text that says so."""
    if encoding != "json+zlib":
        return data, ""
    stream = zlib.decompressobj()
    try:
        whole = stream.decompress(data, limit)
    except zlib.error as problem:
        return b"", _unreadable(problem)
    if not stream.eof:
        return b"", _unreadable(f"it is cut short, or longer than {limit} bytes")
    return whole, ""


def _value(data: bytes) -> object:
    """The value of JSON; refused with too many values, which would take many times the memory."""
    if sum(map(data.count, (b",", b"[", b"{"))) > MOST_VALUES:
        return _unreadable(f"it has more than {MOST_VALUES} values")
    try:
        check_depth(data)
        return msgspec.json.decode(data) if data else None
    except (BadMessage, msgspec.DecodeError, UnicodeDecodeError) as problem:
        return _unreadable(problem)


def _unreadable(problem: object) -> str:
    return f"(the body of this return cannot be read: {problem})"
