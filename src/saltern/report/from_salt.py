"""Makes a Report of Salt's dictionary of returns, so that runs of Salt are shown like our own.

Missing information is not guessed: frames have no headings, and only the time of day is known.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from saltern.language.chunk import Chunk
from saltern.language.events import Answer, Report
from saltern.language.high import Declaration
from saltern.language.result import Outcome, Result
from saltern.language.source import Mark, Path, SlsRef

SEPARATOR = "_|-"
# Keys that have a field of their own; all others are ``extra``.
KNOWN = frozenset(
    (
        "name", "result", "changes", "comment", "__run_num__", "__sls__", "__id__", "start_time", "duration",
        "__state_ran__", "warnings", "skip_watch", "data", "__parallel__", "__parent__", "__depth__",
        "__path__", "__where__",
    )
)  # fmt: skip


class At:
    """The origin of a state when only its place is known, as text."""

    def __init__(self, where: str) -> None:
        file, line, column = _place(where)
        self.file = file
        self._mark = Mark(file, line, column)

    def mark(self, _path: Path = ()) -> Mark:
        return self._mark


def is_states(value: object) -> bool:
    """True if the value maps tags of four parts to mappings, as returns of states do."""
    return isinstance(value, Mapping) and all(
        isinstance(tag, str) and tag.count(SEPARATOR) >= 3 and isinstance(one, Mapping) and "result" in one
        for tag, one in value.items()
    )


def from_dict(data: Mapping[str, Mapping[str, Any]]) -> Report:
    """Make the report of a dictionary of returns. Answers are in the order of their numbers."""
    rows = sorted(data.items(), key=lambda row: _number(row[1]))
    numbers = {tag: _number(one) for tag, one in rows}
    answers = [_answer(tag, one, numbers) for tag, one in rows]
    return Report(
        answers=answers,
        test=any(answer.result.outcome is Outcome.WOULD_CHANGE for answer in answers),
        took=sum(answer.took for answer in answers),
    )


def _answer(tag: str, one: Mapping[str, Any], numbers: Mapping[str, int]) -> Answer:
    parent, path = str(one.get("__parent__") or ""), str(one.get("__path__") or "")
    return Answer(
        chunk=_chunk(tag, one),
        result=_result(one),
        number=_number(one),
        started=_moment(one.get("start_time")),
        took=_seconds(one.get("duration")),
        timed="duration" in one,
        parallel=bool(one.get("__parallel__")),
        parent=parent,
        under=numbers.get(parent, -1),
        depth=int(one.get("__depth__") or 0),
        frame=path.rpartition(">")[0],
        sub=bool(parent) and one.get("__state_ran__") is True,
    )


def _chunk(tag: str, one: Mapping[str, Any]) -> Chunk:
    state, fun = tag.partition(SEPARATOR)[0], tag.rpartition(SEPARATOR)[2]
    id_, sls = str(one.get("__id__") or tag.split(SEPARATOR)[1]), str(one.get("__sls__") or "")
    declared = Declaration(
        id=id_,
        state=state,
        key=f"{state}.{fun}",
        items=[fun],
        ref=SlsRef("base", sls),
        origin=At(str(one.get("__where__") or "")),
    )
    name = str(one.get("name", id_))
    return Chunk(state=state, fun=fun, id=id_, name=name, order=0, args={}, declared=declared)


def _result(one: Mapping[str, Any]) -> Result:
    warnings = one.get("warnings")
    changes, data = one.get("changes"), one.get("data")
    return Result(
        outcome=_outcome(one.get("result")),
        comment=_text(one.get("comment")),
        changes=changes if isinstance(changes, dict) else {"changes": changes} if changes else {},
        data=data if isinstance(data, dict) else {},
        warnings=tuple(map(str, warnings)) if isinstance(warnings, list) else (),
        ran=one.get("__state_ran__", True) is not False,
        quiet=bool(one.get("skip_watch")),
        extra={key: value for key, value in one.items() if key not in KNOWN},
    )


def _outcome(value: object) -> Outcome:
    return Outcome(value) if value is None or isinstance(value, bool) else Outcome.FAILED


def _text(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value if value is not None else "")


def _number(one: Mapping[str, Any]) -> int:
    value = one.get("__run_num__")
    return value if isinstance(value, int) else 0


def _seconds(value: object) -> float:
    """Milliseconds as seconds; old versions of Salt write them as text."""
    if isinstance(value, str):
        value = value.removesuffix("ms").strip()
    try:
        return float(value) / 1000  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0.0


def _moment(value: object) -> float:
    """A time of day as a time of today; only the time of day is printed."""
    whole, _, micro = str(value or "").partition(".")
    try:
        clock = time.strptime(whole, "%H:%M:%S")
    except ValueError:
        return 0.0
    today = time.localtime()
    day = (today.tm_year, today.tm_mon, today.tm_mday)
    seconds = time.mktime((*day, clock.tm_hour, clock.tm_min, clock.tm_sec, 0, 0, -1))
    return seconds + (int(micro) / 10 ** len(micro) if micro.isdecimal() else 0)


def _place(where: str) -> tuple[str, int, int]:
    """``file``, ``file:line`` or ``file:line:column``."""
    parts = where.rsplit(":", 2)
    numbers = [int(part) for part in parts[1:] if part.isdecimal()]
    if len(parts) == 3 and len(numbers) == 2:
        return parts[0], numbers[0], numbers[1]
    file, _, line = where.rpartition(":")
    return (file, int(line), 0) if file and line.isdecimal() else (where, 0, 0)
