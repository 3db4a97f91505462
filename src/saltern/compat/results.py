"""Converts between Salt's return dictionary and ``Result``: foreign returns are read only here.

If a module returns too little, Salt ends the run or invents a result; here the result is a failure that
describes the problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.language import numbers
from saltern.language.result import Outcome, Result, SubResult, failed

NEEDED = ("name", "result", "changes", "comment")
READ = frozenset({*NEEDED, "warnings", "skip_watch", "sub_state_run", "data"})


class BadReturn(Exception):
    """A return is malformed; the text is for the user."""


def to_result(returned: object, function: str, *, provider: str = "") -> Result:
    """``function`` is its name for messages; ``provider`` is named in ``extra``."""
    extra: dict[str, object] = {"provider": provider} if provider else {}
    try:
        given = _check_return(returned)
        extra |= {str(key): plain(value) for key, value in given.items() if key not in READ}
        return Result(
            outcome=_outcome(given["result"]),
            comment=_comment(given["comment"]),
            changes=_mapping(given["changes"]),
            data=_mapping(given.get("data")) if isinstance(given.get("data"), Mapping) else {},
            warnings=_texts(given.get("warnings")),
            sub=_steps(given),
            quiet=bool(given.get("skip_watch")),
            extra=extra,
        )
    except BadReturn as problem:
        changes = returned.get("changes") if isinstance(returned, Mapping) else None
        kept = _mapping(changes) if isinstance(changes, Mapping) else {}
        comment = f"{function} returned a malformed result: {problem}"
        return Result(outcome=Outcome.FAILED, comment=comment, changes=kept, extra=extra)


def to_salt(result: Result, name: str) -> dict[str, object]:
    """The dictionary that a Salt-style caller expects from a state."""
    given: dict[str, object] = {
        "name": name,
        "result": result.outcome.value,
        "changes": dict(result.changes),
        "comment": result.comment,
    }
    if result.warnings:
        given["warnings"] = list(result.warnings)
    if result.quiet:
        given["skip_watch"] = True
    if result.data:
        given["data"] = dict(result.data)
    if result.sub:
        given["sub_state_run"] = [_entry(step) for step in result.sub]
    return {**result.extra, **given}


def _entry(step: SubResult) -> dict[str, object]:
    """One entry of ``sub_state_run``, whose times are in seconds."""
    entry: dict[str, object] = {
        "low": {"name": step.name, "state": step.state, "__id__": step.id or step.name, "fun": step.fun},
        "result": step.outcome.value,
        "changes": dict(step.changes),
        "comment": step.comment,
        "__state_ran__": step.ran,
    }
    more: dict[str, object] = {
        "data": dict(step.data),
        "warnings": list(step.warnings),
        "sub_state_run": [_entry(inner) for inner in step.sub],
    }
    if step.timed:
        entry["duration"] = step.took
    if step.started:
        entry["start_time"] = step.started
    return {**entry, **{key: value for key, value in more.items() if value}}


def raised_result(problem: Exception, *, provider: str = "") -> Result:
    """The result of a module that raised one of Salt's exceptions, whose text is for the user."""
    result = failed(str(problem) or type(problem).__name__)
    if not provider:
        return result
    return Result(outcome=Outcome.FAILED, comment=result.comment, extra={"provider": provider})


def plain(value: Any) -> Any:
    """The value without views, which have no meaning outside of the call or in a fork, and without numbers
    that cannot be written.
    """
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return numbers.description(value) if numbers.is_too_long(value) else value


def _check_return(returned: object) -> Mapping[str, Any]:
    if not isinstance(returned, Mapping):
        raise BadReturn(f"it is {_kind(returned)}, not a dictionary with {', '.join(NEEDED)}")
    missing = [key for key in NEEDED if key not in returned]
    if missing:
        raise BadReturn(f"it has no {', '.join(map(repr, missing))}")
    if not isinstance(returned["changes"], Mapping):
        raise BadReturn(f"'changes' is {_kind(returned['changes'])}, not a dictionary")
    return returned


def _outcome(value: object) -> Outcome:
    return Outcome.WOULD_CHANGE if value is None else Outcome(bool(value))


def _comment(value: object) -> str:
    if isinstance(value, list | tuple):
        if not all(isinstance(line, str) for line in value):
            raise BadReturn("'comment' is a list with an item that is not text")
        return "\n".join(value)
    return "" if value is None else str(plain(value))


def _texts(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(map(str, plain(value))) if isinstance(value, list | tuple) else (str(plain(value)),)


def _mapping(value: Any) -> dict[str, object]:
    return {key: plain(inner) for key, inner in value.items()}


def _steps(given: Mapping[str, Any]) -> tuple[SubResult, ...]:
    """The sub states that a state reports."""
    if not given.get("sub_state_run"):
        return ()
    from saltern.modules.lib.engines.entries import steps

    return steps(plain(given["sub_state_run"]))


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
