"""Pages of lists. A cursor is the key of the last row, in a form that clients send back unchanged."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta, Struct

from saltern.fleet.api.problems import ApiError
from saltern.language.diagnostics import Diagnostic

T = TypeVar("T")
R = TypeVar("R")
MOST = 1000
Limit = Annotated[int, Meta(ge=1, le=MOST, description="how many rows a page has at most")]
Cursor = Annotated[
    str, Meta(max_length=1024, description="`next` of the page before; empty for the first page")
]


class PageQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which page of a list."""

    limit: Limit = 100
    cursor: Cursor = ""


class Page(Struct, Generic[T], frozen=True, kw_only=True):
    """A part of a list. ``next`` is the cursor of the part after it; null: this is the last one."""

    items: list[T]
    next: str | None = None


def encode_cursor(*key: object) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def decode_cursor(cursor: str, shape: type[R]) -> R:
    """The key in a cursor, as a tuple of this shape."""
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        return msgspec.json.decode(data, type=shape)
    except (binascii.Error, msgspec.DecodeError, UnicodeError, ValueError):
        what = f"the cursor {cursor[:40]!r} is not one of this list"
        fix = "use `next` of the page before, unchanged; without `cursor` it is the first page"
        raise ApiError(400, Diagnostic(code="api-bad-cursor", what=what, fix=fix)) from None


def cut_page(rows: Sequence[T], query: PageQuery, key: Callable[[T], str]) -> Page[T]:
    """A page of a short list that is read completely: the rows after the cursor's key."""
    after = decode_cursor(query.cursor, tuple[str])[0] if query.cursor else ""
    later = sorted((row for row in rows if key(row) > after), key=key)
    return make_page(later, query.limit, lambda row: (key(row),))


def make_page(rows: Sequence[T], limit: int, key: Callable[[T], tuple[Any, ...]]) -> Page[T]:
    """The page for rows, of which ``limit`` + 1 were requested: the extra row shows that there are more."""
    more = len(rows) > limit
    items = [*rows[:limit]]
    return Page(items=items, next=encode_cursor(*key(items[-1])) if more else None)
