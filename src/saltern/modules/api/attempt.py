"""``attempt``: the one place that catches exceptions of modules, and turns them into results."""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec.structs import replace

from saltern.language.diagnostics import SalternError, words_of
from saltern.language.mask import mask
from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused, explain

MOST_FRAMES = 30  # of a traceback that is kept


def attempt(context: Context, work: Callable[[], object], who: str = "the state") -> Result:
    """The result of ``work``; an exception becomes a failed one, with the facts that the state has set.

    A state with several parts that reports each calls it for each; otherwise only the caller does.
    """
    try:
        result = work()
    except (Exception, SystemExit) as problem:  # a module that exits ends its own state, not the run
        result = _result_of(context, problem, who)
    if not isinstance(result, Result):
        result = _failure(context, f"{who} returned {type(result).__name__}, not a Result")
    if not context.warnings:
        return result
    return replace(result, warnings=(*result.warnings, *context.warnings))


def _result_of(context: Context, problem: BaseException, who: str) -> Result:
    """The failed result for an exception of a module."""
    if isinstance(problem, Refused):
        return _refusal(context, problem)
    if isinstance(problem, SalternError | BadArgument):
        return _failure(context, str(problem))
    if isinstance(problem, OSError):
        return _failure(context, explain(problem, _path(context)))
    if isinstance(problem, ValueError) and (text := _value_text(context, problem)):
        return _failure(context, text)
    return _bug(context, problem, who)


def _failure(context: Context, comment: str) -> Result:
    return Result(outcome=Outcome.FAILED, comment=mask(comment), data=dict(context.facts))


def _refusal(context: Context, refused: Refused) -> Result:
    """A failed result; but in test mode only a note, if an earlier state may still create what is missing."""
    data = {**context.facts, **refused.data}
    if refused.later and context.test and context.foreseen:
        comment = f"would be done if this is resolved by then: {refused}"
        changes = dict(context.foreseen)
        return Result(outcome=Outcome.WOULD_CHANGE, comment=mask(comment), changes=changes, data=data)
    return Result(
        outcome=Outcome.FAILED,
        comment=mask(str(refused)),
        changes=refused.changes,
        data=data,
        warnings=refused.warnings,
    )


def _path(context: Context) -> str:
    """The file that the state is about; empty if it is about something else."""
    return str(context.facts.get("path") or "")


def _value_text(context: Context, problem: ValueError) -> str:
    """Python's message about a wrong value, if the state has set its facts; empty if it is a bug."""
    if path := _path(context):
        advice = "; give the encoding of the file" if isinstance(problem, UnicodeError) else ""
        return f"{path}: {problem}{advice}"
    if context.facts:
        return str(problem)
    nul = str(problem) == "embedded null byte"  # Python's message when a program is started
    return "an argument contains a NUL character" if nul else ""


def _bug(context: Context, problem: BaseException, who: str) -> Result:
    """The failed result for an unexpected exception; a hidden state keeps no traceback."""
    hidden = context.chunk is not None and context.chunk.hidden
    trace = "" if hidden else mask(_trace(problem))
    return replace(_failure(context, _bug_text(problem, who)), trace=trace)


def _trace(problem: BaseException) -> str:
    """The traceback without the frames of this file, the innermost frames of a deep one."""
    from traceback import format_exception

    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return "".join(format_exception(type(problem), problem, trace, limit=-MOST_FRAMES)).rstrip("\n")


def _bug_text(problem: BaseException, who: str) -> str:
    """The message of an unexpected exception, in one line."""
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else "?"
    return f"{who} failed: {type(problem).__name__}: {words_of(problem)} (at {place})"
