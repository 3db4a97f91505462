"""One entry of ``sub_state_run`` → a step. A malformed entry is a failure only of that step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from saltern.language.result import Outcome, SubResult

NEEDED = ("changes", "result", "comment")
OUTCOMES: dict[object, Outcome] = {outcome.value: outcome for outcome in Outcome}
DEEPEST = 20
LATEST = 1e11  # the year 5138: later values are not times


def steps(value: object, depth: int = 0) -> tuple[SubResult, ...]:
    """The steps of the list that a state returns; anything but a list is one failed step."""
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        return (_bad({}, [f"sub_state_run is {_kind(value)}, not a list"]),)
    if depth > DEEPEST:
        return (_bad({}, [f"sub_state_run is nested deeper than {DEEPEST}"]),)
    return tuple(step(entry, depth) for entry in value)


def step(entry: object, depth: int = 0) -> SubResult:
    """The step of an entry. Never raises: a malformed entry is a failed step that says why."""
    if not isinstance(entry, Mapping):
        return _bad({}, [f"this entry is {_kind(entry)}, not a dictionary"])
    wrong = [*_missing_keys(entry), *_odd(entry)]
    if wrong:
        return _bad(entry, wrong)
    names = _names(entry)
    changes, data = entry["changes"], entry.get("data")
    return SubResult(
        name=names.name or names.id,
        id=names.id,
        state=names.state,
        fun=names.fun,
        outcome=OUTCOMES[entry["result"]],
        comment=_text(entry["comment"]),
        changes={str(key): inner for key, inner in changes.items()},
        data={str(key): inner for key, inner in data.items()} if isinstance(data, Mapping) else {},
        warnings=_texts(entry.get("warnings")),
        ran=entry.get("__state_ran__") is not False and entry.get("ran") is not False,
        took=_seconds(entry.get("duration")) or 0.0,
        started=moment(entry.get("start_time")) or 0.0,
        timed=_seconds(entry.get("duration")) is not None,
        sub=steps(entry.get("sub_state_run"), depth + 1),
    )


def _missing_keys(entry: Mapping[object, object]) -> Iterable[str]:
    absent = [key for key in NEEDED if key not in entry]
    if absent:
        yield f"it has no {', '.join(map(repr, absent))}"
    if _names(entry) == _Names():
        yield "it has no name: neither 'name' nor 'low' says what it is"


def _odd(entry: Mapping[object, object]) -> Iterable[str]:
    if "changes" in entry and not isinstance(entry["changes"], Mapping):
        yield f"'Changes' should be a dictionary, not {_kind(entry['changes'])}"
    result = entry.get("result")
    if result.__class__ not in (bool, type(None)):
        yield f"'result' is {result!r}; it is True, False or None"
    comment = entry.get("comment")
    lines = comment if isinstance(comment, list | tuple) else [comment]
    if not all(line is None or isinstance(line, str) for line in lines):
        yield "'comment' is neither text nor a list of texts"


def _bad(entry: Mapping[object, object], wrong: Iterable[str]) -> SubResult:
    names = _names(entry)
    comment = f"malformed entry of sub_state_run: {'; '.join(wrong)}"
    if isinstance(entry.get("comment"), str) and entry["comment"]:
        comment += f"\nit said: {entry['comment']}"
    return SubResult(
        name=names.name or names.id or "malformed entry",
        id=names.id,
        state=names.state,
        fun=names.fun,
        outcome=Outcome.FAILED,
        comment=comment,
    )


class _Names(Struct, frozen=True, kw_only=True):
    name: str = ""
    id: str = ""
    state: str = ""
    fun: str = ""


def _names(entry: Mapping[object, object]) -> _Names:
    low = entry.get("low")
    given: Mapping[object, object] = low if isinstance(low, Mapping) else {}

    def word(*keys: str) -> str:
        found = next((given[key] for key in keys if given.get(key)), None)
        found = next((entry[key] for key in keys if entry.get(key)), "") if found is None else found
        return str(found)

    return _Names(name=word("name"), id=word("__id__", "id"), state=word("state"), fun=word("fun"))


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)


def _texts(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(map(str, value)) if isinstance(value, list | tuple) else (str(value),)


def _seconds(value: object) -> float | None:
    """Seconds from a number, or from a number as text."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9:
        return float(value)
    return None


def moment(value: object) -> float | None:
    """Seconds since 1970, from a number, an ISO time, or a time of today."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if 0 <= value < LATEST else None
    if not isinstance(value, str):
        return None
    from datetime import datetime

    today = datetime.now().date().isoformat()
    for text in (value, f"{today}T{value}"):
        try:
            return max(datetime.fromisoformat(text).timestamp(), 0.0)
        except (ValueError, OverflowError):
            continue
    return None


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
