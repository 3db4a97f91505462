"""``bring``: how a state makes a change. It compares, acts and compares again."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused, explain

Changes = dict[str, object]


class Words(Struct, frozen=True):
    """The comments for no change, for a change in test mode, and for a change."""

    already: str = ""
    would: str = ""
    done: str = ""


def bring(
    ctx: Context,
    differs: Callable[[], Changes],
    act: Callable[[Changes], object],
    *,
    facts: Callable[[], Changes],
    words: Words,
    warnings: tuple[str, ...] = (),
    why: Callable[[Changes], str] = lambda _: "",
) -> Result:
    """Make a change if necessary. ``differs`` returns the differences, in the form of ``changes``.

    It is called before and after ``act``. So test mode predicts exactly the changes of a run, and
    remaining differences are a failure that the state need not code; ``why`` may explain it.
    """
    changes = differs()
    if not changes or ctx.test:
        return result_of(ctx, changes, words, facts(), warnings)
    try:
        act(changes)
    except (BadArgument, OSError) as problem:
        text = explain(problem) if isinstance(problem, OSError) else str(problem)
        raise Refused(
            text, changes=_finished_changes(changes, differs()), data=facts(), warnings=warnings
        ) from problem
    if left := differs():
        text = why(left) or f"acted, but still wrong: {', '.join(left)}"
        raise Refused(text, changes=_finished_changes(changes, left), data=facts(), warnings=warnings)
    return result_of(ctx, changes, words, facts(), warnings)


def _finished_changes(changes: Changes, left: Changes) -> Changes:
    return {key: value for key, value in changes.items() if left.get(key) != value}


def result_of(
    ctx: Context,
    changes: Mapping[str, object],
    words: Words | str,
    data: Mapping[str, object],
    warnings: tuple[str, ...] = (),
) -> Result:
    """The result for no change, a change in test mode, or a change; the changes of the last two are the same.

    For a state that compares and acts in its own way. One text may serve all three cases.
    """
    outcome = Outcome.WOULD_CHANGE if changes and ctx.test else Outcome.OK
    if isinstance(words, Words):
        words = (words.would if ctx.test else words.done) if changes else words.already
    return Result(outcome=outcome, comment=words, changes=dict(changes), data=dict(data), warnings=warnings)
