"""``bring``: how a state brings something about. It looks, acts and looks again."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused, explain

Changes = dict[str, object]


class Words(Struct, frozen=True):
    """The comment for nothing to do, for what a test foresees, and for what was done."""

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
    """Bring something about. ``differs`` says what is not as wanted, in the shape of ``changes``.

    It is called before and after ``act``. So a test foretells exactly the changes of a run, and what
    still differs afterwards is a failure that the state need not code; ``why`` may know more of that.
    """
    changes = differs()
    if not changes or ctx.test:
        return result_of(ctx, changes, words, facts(), warnings)
    try:
        act(changes)
    except (BadArgument, OSError) as problem:
        text = explain(problem) if isinstance(problem, OSError) else str(problem)
        raise Refused(text, changes=_done(changes, differs()), data=facts(), warnings=warnings) from problem
    if left := differs():
        text = why(left) or f"acted, but still wrong: {', '.join(left)}"
        raise Refused(text, changes=_done(changes, left), data=facts(), warnings=warnings)
    return result_of(ctx, changes, words, facts(), warnings)


def _done(changes: Changes, left: Changes) -> Changes:
    return {key: value for key, value in changes.items() if left.get(key) != value}


def result_of(
    ctx: Context,
    changes: Mapping[str, object],
    words: Words | str,
    data: Mapping[str, object],
    warnings: tuple[str, ...] = (),
) -> Result:
    """Nothing to do, would be done, or done; the changes of the last two are the same.

    For a state that looks and acts in a way of its own. One text may serve all three cases.
    """
    outcome = Outcome.WOULD_CHANGE if changes and ctx.test else Outcome.OK
    if isinstance(words, Words):
        words = (words.would if ctx.test else words.done) if changes else words.already
    return Result(outcome=outcome, comment=words, changes=dict(changes), data=dict(data), warnings=warnings)
