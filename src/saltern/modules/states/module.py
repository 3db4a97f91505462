"""``module``: call execution functions from an SLS.

.. code-block:: yaml

    look:
      module.run:
        - test.echo: [hello]
        - test.arg: [1, two, {three: 3}]

In the older form ``name`` is the function, followed by its arguments. ``data`` has the return value of
each function under its name, in the older form under ``ret``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from saltern.language.diagnostics import did_you_mean
from saltern.language.nature import Nature
from saltern.language.result import Outcome, Result, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.program_ends import program_failure

NATURE = Nature(
    repeat="once",
    runs_commands=True,
    advice="give it 'unless' or 'onlyif': otherwise the function is called each time",
)
NOTHING_WATCHED = Result(outcome=Outcome.OK)
NOT_ARGUMENTS = frozenset({"func", "returner", "sfun", "args", "kwargs", "reload_modules", "m_names"})


class Call(Struct, frozen=True):
    """One function to call. ``shown`` is its key in the changes."""

    name: str
    args: tuple[object, ...] = ()
    kwargs: dict[str, object] = {}
    shown: str = ""


@state
def run(ctx: Context, /, name: str, **kwargs: object) -> Result:
    """Call one or more execution functions. A function that returns ``False`` has failed; so has one that
    applied states of which one failed, or files that do not compile.

    Args:
        name: in the older form, the function.
        func: the function in the older form, if ``name`` is something else.
        args, kwargs: in the older form, its arguments; other arguments are keywords for it,
            and ``m_name`` is its argument ``name``.
        returner: accepted, but has no effect.

    Example:
        ```yaml
        greet all users:
          module.run:
            - file.append:
              - path: /etc/motd
              - args:
                - Be back at noon
            - unless: grep -q noon /etc/motd
        ```
    """
    calls = _calls(name, kwargs)
    missing = [call.name for call in calls if call.name not in ctx.functions]
    if missing:
        raise Refused("\n".join(_unknown(ctx, one) for one in missing))
    if ctx.test:
        listed = ", ".join(call.name for call in calls)
        comment = f"Function{'s' if len(calls) > 1 else ''} {listed} to be executed."
        return would_change(comment)
    return _call_all(ctx, calls)


def _calls(name: str, kwargs: Mapping[str, object]) -> list[Call]:
    """The newer form has dotted names as arguments."""
    calls = [_newer(key, value) for key, value in kwargs.items() if "." in key]
    return calls or [_older(name, kwargs)]


def _newer(name: str, given: object) -> Call:
    items = given if isinstance(given, list) else [] if given is None else [given]
    args = tuple(item for item in items if not isinstance(item, Mapping))
    keywords = {str(key): value for item in items if isinstance(item, Mapping) for key, value in item.items()}
    return Call(name, args, keywords, name)


def _older(name: str, kwargs: Mapping[str, object]) -> Call:
    function = str(kwargs.get("func") or name)
    args = kwargs.get("args")
    more = kwargs.get("kwargs")
    keywords = {key: value for key, value in kwargs.items() if key not in NOT_ARGUMENTS}
    for item in more if isinstance(more, list) else [more]:
        if isinstance(item, Mapping):
            keywords |= item
    if "m_name" in keywords:
        keywords["name"] = keywords.pop("m_name")
    given = tuple(args) if isinstance(args, list | tuple) else () if args is None else (args,)
    return Call(function, given, keywords, "ret")


def _call_all(ctx: Context, calls: list[Call]) -> Result:
    """Call the functions in order; a failure does not stop the others."""
    changes: dict[str, object] = {}
    answers: dict[str, object] = {}
    wrong: list[str] = []
    right: list[str] = []
    for call in calls:
        try:
            answer = ctx.functions[call.name](*call.args, **call.kwargs)
        except Exception as problem:
            wrong.append(f"'{call.name}' failed: {problem}")
            continue
        answers[call.shown] = answer
        if why := _failure_reason(call, answer):
            wrong.append(f"'{call.name}' failed: {why}")
        else:
            right.append(f"{call.name}: {_short(answer)}")
            changes[call.shown] = answer
    outcome = Outcome.FAILED if wrong else Outcome.OK
    return Result(outcome=outcome, comment="\n".join((*wrong, *right)), changes=changes, data=answers)


def _failure_reason(call: Call, answer: object) -> str:
    """Why the return value is a failure; empty if it is not. For ``state.apply``, one failed state is
    enough.
    """
    if answer is False:
        return "it returned False"
    if isinstance(answer, list) and call.name.startswith("state."):  # errors of files that do not compile
        return "; ".join(map(str, answer))
    return _failed_within(answer) if isinstance(answer, Mapping) else ""


def _failed_within(answer: Mapping[str, object]) -> str:
    code = answer.get("retcode")
    if code or answer.get("result") is False:
        reported = answer.get("comment") or answer.get("stderr") or (f"exit code {code}" if code else "")
        return program_failure(answer.get("changes")) or str(reported or "no reason given")
    inner = ((key, _failed_within(value)) for key, value in answer.items() if isinstance(value, Mapping))
    return next((f"{_id_of(key)}: {why}" for key, why in inner if why), "")


def _id_of(key: str) -> str:
    """The ID of a state, if the key is its tag."""
    parts = key.split("_|-")
    return parts[1] if len(parts) == 4 else key


def _short(answer: object) -> str:
    return str(answer.get("comment") or "Success") if isinstance(answer, Mapping) else str(answer)


def _unknown(ctx: Context, name: str) -> str:
    known = map(str, ctx.functions) if isinstance(ctx.functions, Iterable) else ()
    hint = did_you_mean(name, known)
    return f"no function is called '{name}'" + (f"; {hint}" if hint else "")


@state
def wait(ctx: Context, /, name: str, **kwargs: object) -> Result:  # noqa: ARG001
    """Call functions, but only when a watched state has changed. Takes the arguments of ``run``.

    Example:
        ```yaml
        /etc/app.conf:
          file.managed:
            - contents: port = 8080

        note the change:
          module.wait:
            - file.touch:
              - name: /srv/app/changed
            - watch:
              - file: /etc/app.conf
        ```
    """
    return NOTHING_WATCHED


@state
def mod_watch(ctx: Context, /, name: str, **kwargs: object) -> Result:
    """The reaction of a ``module`` state to a change in a watched state: it calls its functions.

    Example:
        ```yaml
        /etc/app.conf:
          file.managed:
            - contents: port = 8080

        note the change:
          module.run:
            - file.touch:
              - name: /srv/app/changed
            - onchanges:
              - file: /etc/app.conf
            - watch:
              - file: /etc/app.conf
        ```
    """
    return run(ctx, name, **kwargs)
