"""The outline of a chain file: the lines of each action, and all problems."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from saltern.chains.actions import KINDS
from saltern.chains.document import Policy, read_chain
from saltern.chains.edit import Span, items_of, spans_of
from saltern.chains.schema import SAFETY
from saltern.language.diagnostics import ChainError, Diagnostic
from saltern.render.yaml_limits import YamlProblem


class Flaw(Struct, frozen=True, kw_only=True):
    """A problem, its line (from 1; 0: unknown), its action, and the fix. ``repair``: the number of seconds to
    write in place of a text such as ``60m``.
    """

    code: str
    what: str
    line: int = 0
    column: int = 0
    fix: str = ""
    list: str = ""
    index: int = -1
    field: str = ""
    repair: float | None = None


class Listed(Struct, frozen=True, kw_only=True):
    """One action: its place, its text, and its segment."""

    list: str
    index: int
    id: str
    kind: str
    title: str
    summary: str
    given: dict[str, Any]
    first: int
    last: int
    segment: int
    barrier: bool
    safety: str


class Outline(Struct, frozen=True, kw_only=True):
    """A chain: its head, its actions in order, the number of segments, and its problems."""

    chain: str
    description: str
    segments: int
    actions: tuple[Listed, ...]
    problems: tuple[Flaw, ...]


def outline(text: str, file: str = "chain.yaml") -> Outline:
    """Outline a chain file, as far as it can be read."""
    listed = tuple(_listed_actions(text))
    head = _head(text)
    own = [one.segment for one in listed if one.list == "actions"]
    return Outline(
        chain=head.get("chain", ""),
        description=head.get("description", ""),
        segments=max(own, default=0),
        actions=listed,
        problems=tuple(_problems(text, file, listed)),
    )


def _head(text: str) -> dict[str, str]:
    from saltern.render.yaml import read

    try:
        data = read(text)
    except YamlProblem:
        return {}
    if not isinstance(data, Mapping):
        return {}
    return {key: str(data[key]) for key in ("chain", "description") if data.get(key) is not None}


def _listed_actions(text: str) -> Iterator[Listed]:
    """Actions in order. A barrier ends its segment; actions for the end belong to no segment."""
    segment = 1
    for key, items in items_of(text).items():
        spans = [*(spans_of(text, key) or ()), *([None] * len(items))]
        for index, item in enumerate(items):
            lines = _lines(text, spans[index])
            yield _one(key, index, item if isinstance(item, dict) else {}, lines, segment)
            segment += key == "actions" and _is_barrier(item) and index + 1 < len(items)


def _kind(item: Any) -> str:
    return next((one for one in item if one in KINDS), "") if isinstance(item, dict) else ""


def _is_barrier(item: Any) -> bool:
    kind = _kind(item)
    return bool(kind) and KINDS[kind].barrier


def _one(key: str, index: int, given: dict[str, Any], lines: tuple[int, int], segment: int) -> Listed:
    kind = _kind(given)
    name = f"{index + 1}" if key == "actions" else f"finally-{index + 1}"
    return Listed(
        list=key,
        index=index,
        id=str(given.get("id") or name),
        kind=kind,
        title=str(given.get("title") or ""),
        summary=_summary(kind, given.get(kind)),
        given=given,
        first=lines[0],
        last=lines[1],
        segment=segment,
        barrier=_is_barrier(given),
        safety=SAFETY[KINDS[kind].safety] if kind else "",
    )


def _lines(text: str, span: Span | None) -> tuple[int, int]:
    """The first and the last line of an action, from 1 on; 0 if it has none of its own."""
    return (span.first + 1, _last_line(text, span.first, span.end)) if span else (0, 0)


def _last_line(text: str, first: int, end: int) -> int:
    lines = text.splitlines()
    while end > first + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def _summary(kind: str, body: Any) -> str:
    """A summary of an action in one line: its main argument, and what differs from the defaults."""
    if not kind:
        return ""
    if not isinstance(body, Mapping):
        return _words(body)
    short = KINDS[kind].short
    rest = ", ".join(f"{key} {_words(value)}" for key, value in body.items() if key != short)
    return _words(body[short]) if short in body else rest


def _words(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _problems(text: str, file: str, listed: tuple[Listed, ...]) -> Iterator[Flaw]:
    try:
        read_chain(text, file)
    except ChainError as problem:
        for one in problem.diagnostics:
            yield _flaw(one, listed)


def _flaw(one: Diagnostic, listed: tuple[Listed, ...]) -> Flaw:
    line = one.where.line if one.where else 0
    at = next((action for action in listed if action.first <= line <= action.last), None)
    field = _field(one.what, at)
    repair = _seconds(at.given, at.kind, field) if at and field else None
    return Flaw(
        code=one.code,
        what=one.what if repair is None else f"{field}: a number of seconds is needed, without a unit",
        fix=one.fix,
        line=line,
        column=one.where.column if one.where else 0,
        list=at.list if at else "",
        index=at.index if at else -1,
        field=field,
        repair=repair,
    )


UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}


def _seconds(given: Mapping[str, Any], kind: str, field: str) -> float | None:
    """The seconds of a time with a unit; None if the text is not one."""
    body = given.get(kind)
    is_short = field == KINDS[kind].short and not isinstance(body, Mapping)
    value = body if is_short else body.get(field) if isinstance(body, Mapping) else None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|d)", value) if isinstance(value, str) else None
    return float(found[1]) * UNITS[found[2]] if found else None


def _field(what: str, at: Listed | None) -> str:
    """The key that a problem begins with, as ``return_deadline: expected …``."""
    word = what.partition(":")[0].strip("'")
    return word if at and (word in Policy.__struct_fields__ or word in _keys(at)) else ""


def _keys(at: Listed) -> tuple[str, ...]:
    return KINDS[at.kind].body.__struct_encode_fields__ if at.kind else ()
