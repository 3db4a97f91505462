"""``test``: states that only pretend, for trying out requisites, test mode, delayed blocks and reports.

They take any argument, and return unused ones as ``data``, so that each can stand in for a
state that reads data.
"""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from saltern.language.hidden import labels
from saltern.language.result import Outcome, Result, failed, ok, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state

# Constant results are created once: benchmarks call ``test.nop`` thousands of times.
SUCCESS = ok("Success!")
FAILURE = failed("Failure!")
WOULD_FAIL = failed("If we weren't testing, this would be a failure!")
WOULD_SUCCEED_CHANGED = "If we weren't testing, this would be successful with changes"
WOULD_FAIL_CHANGED = "If we weren't testing, this would be failed with changes"


def _pretended_changes() -> dict[str, object]:
    return {"testing": {"old": "Unchanged", "new": "Something pretended to change"}}


@state
def nop(ctx: Context, /, name: str, **given: object) -> Result:
    """Do nothing, successfully. Takes any argument, so it can stand in for any state.

    Its arguments are returned as ``data``.

    Example:
        ```yaml
        placeholder:
          test.nop: []
        ```
    """
    return replace(SUCCESS, data=given) if given else SUCCESS


@state
def succeed_without_changes(
    ctx: Context, /, name: str, *, comment: object = "Success!", **given: object
) -> Result:
    """Succeed and change nothing.

    Args:
        comment: the comment of the result.

    Example:
        ```yaml
        unchanged:
          test.succeed_without_changes: []
        ```
    """
    if comment == "Success!" and not given:
        return SUCCESS
    return Result(outcome=Outcome.OK, comment=_lines(comment), data=given)


@state
def succeed_with_changes(
    ctx: Context, /, name: str, *, comment: object = "Success!", **given: object
) -> Result:
    """Succeed and report changes.

    Args:
        comment: the comment of the result.

    Example:
        ```yaml
        changed:
          test.succeed_with_changes: []
        ```
    """
    if ctx.test:
        return would_change(WOULD_SUCCEED_CHANGED, _pretended_changes())
    return Result(outcome=Outcome.OK, comment=_lines(comment), changes=_pretended_changes(), data=given)


@state
def fail_without_changes(
    ctx: Context, /, name: str, *, comment: object = "Failure!", **given: object
) -> Result:
    """Fail and change nothing; in test mode, say that it would fail, and fail.

    Args:
        comment: the comment of the result.

    Example:
        ```yaml
        {% if not pillar['web'] %}
        no web:
          test.fail_without_changes:
            - comment: pillar has no web
        {% else %}
        on purpose:
          test.fail_without_changes: []
        {% endif %}
        ```
    """
    if ctx.test:
        return WOULD_FAIL
    if comment == "Failure!" and not given:
        return FAILURE
    return Result(outcome=Outcome.FAILED, comment=_lines(comment), data=given)


@state
def fail_with_changes(ctx: Context, /, name: str, *, comment: object = "Failure!", **given: object) -> Result:
    """Fail and report changes.

    Args:
        comment: the comment of the result.

    Example:
        ```yaml
        half done:
          test.fail_with_changes:
            - comment: the disk is full
        ```
    """
    if ctx.test:
        return would_change(WOULD_FAIL_CHANGED, _pretended_changes())
    return Result(outcome=Outcome.FAILED, comment=_lines(comment), changes=_pretended_changes(), data=given)


@state
def configurable_test_state(
    ctx: Context,
    /,
    name: str,
    *,
    changes: object = True,
    result: object = True,
    comment: object = "",
    warnings: object = None,
    allow_test_mode_failure: bool = False,
    **given: object,
) -> Result:
    """Return the result that the arguments describe.

    Args:
        changes: true, false or ``Random``: whether something changed.
        result: true, false or ``Random``: whether it succeeded.
        comment: the comment of the result.
        warnings: a warning or a list of them.
        allow_test_mode_failure: in test mode, fail if the real run would fail.

    Example:
        ```yaml
        a careful state:
          test.configurable_test_state:
            - changes: true
            - result: true
            - comment: changed something
        ```
    """
    problems = [
        f"{what} must be true, false or 'Random', not {value!r}"
        for what, value in (("changes", changes), ("result", result))
        if not _choice(value)
    ]
    if problems:
        return failed("\n".join(problems))
    changed, fine = _decide(changes), _decide(result)
    reported = _lines(comment)
    if ctx.test:
        reported = reported or "This is a test"
        outcome = _predict(changed, fine or not allow_test_mode_failure)
    else:
        outcome = Outcome(fine)
    return Result(
        outcome=outcome,
        comment=reported,
        changes=_pretended_changes() if changed else {},
        data=given,
        warnings=_several(warnings),
    )


def _predict(changed: bool, fine: bool) -> Outcome:
    if not fine:
        return Outcome.FAILED
    return Outcome.WOULD_CHANGE if changed else Outcome.OK


def _choice(value: object) -> bool:
    return isinstance(value, bool) or value == "Random"


def _decide(value: object) -> bool:
    if value != "Random":
        return bool(value)
    from random import random

    return random() < 0.5


@state
def show_notification(ctx: Context, /, name: str, *, text: object = None, **_: object) -> Result:
    """Add a text to the report.

    Args:
        text: the text; required.

    Example:
        ```yaml
        notice:
          test.show_notification:
            - text: The web server listens on {{ pillar['web']['port'] }}
        ```
    """
    if text is None or text == "":
        return failed("argument 'text' is missing: give the text of the notification")
    return ok(_lines(text), text=text)


KINDS: dict[str, tuple[type, str]] = {
    "boolean": (bool, "true or false"),
    "integer": (int, "a number"),
    "string": (str, "text"),
    "listing": (list, "a list"),
    "dictionary": (dict, "a mapping"),
}


@state
def check_pillar(
    ctx: Context,
    /,
    name: str,
    *,
    present: object = None,
    boolean: object = None,
    integer: object = None,
    string: object = None,
    listing: object = None,
    dictionary: object = None,
    verbose: bool = False,
    **_: object,
) -> Result:
    """Fail unless the pillar has these keys, with values of these types.

    Every argument is a key or a list of keys; ``a:b`` looks into mappings.

    Args:
        present: keys that must exist.
        boolean, integer, string, listing, dictionary: keys whose value must have that type.
        verbose: also list the keys that pass.

    Example:
        ```yaml
        pillar is complete:
          test.check_pillar:
            - string: role
            - integer: web:port
            - listing: web:names
        ```
    """
    from saltern.targeting.traverse import traverse

    missing = object()
    wrong: list[str] = []
    fine: list[str] = []
    asked = [(key, "") for key in _several(present)]
    for kind, keys in (
        ("boolean", boolean),
        ("integer", integer),
        ("string", string),
        ("listing", listing),
        ("dictionary", dictionary),
    ):
        asked += [(key, kind) for key in _several(keys)]
    for key, kind in asked:
        value = traverse(ctx.pillar, key, missing)
        if value is missing:
            wrong.append(f'Pillar key "{key}" is missing.')
        elif kind and not _is(value, kind):
            wrong.append(f'Pillar key "{key}" is not {KINDS[kind][1]}.')
        else:
            fine.append(f"- {key} ({KINDS[kind][1] if kind else 'present'})")
    reported = [*wrong, *(("Those keys passed the check:", *fine) if verbose else ())]
    return Result(
        outcome=Outcome(not wrong),
        comment="\n".join(reported),
        data={"keys": [key for key, _ in asked], "wrong": wrong},
    )


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):  # a bool is also an int in Python
        return kind == "boolean"
    return isinstance(value, KINDS[kind][0])


@state
def mod_watch(
    ctx: Context, /, name: str, *, sfun: object = None, result: object = True, **given: object
) -> Result:
    """The reaction of a ``test`` state to a change in a watched state: it reports it.

    Example:
        ```yaml
        first:
          test.succeed_with_changes: []

        second:
          test.nop:
            - watch:
              - test: first
        ```
    """
    return Result(
        outcome=Outcome(result is not False),
        comment="Watch statement fired.",
        changes={"Requisites with changes": _watched_states(ctx)},
        data=given,
    )


def _watched_states(ctx: Context) -> list[object]:
    if ctx.chunk is None:
        return []
    known = labels(ctx.run.chunks)
    watched = [one for one in ctx.chunk.requisites if one.kind in ("watch", "watch_any")]
    named = [(one.state, known.get(one.value, one.value)) for one in watched]
    return [f"{state}: {value}" if state else value for state, value in named]


def _lines(comment: object) -> str:
    if isinstance(comment, str):
        return comment
    if isinstance(comment, list | tuple):
        return "\n".join(map(str, comment))
    return str(comment)


def _several(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (str(value),)
    return tuple(map(str, value))
