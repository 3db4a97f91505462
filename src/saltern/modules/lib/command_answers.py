"""The results of commands as results of states."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from saltern.language.diagnostics import did_you_mean
from saltern.language.result import LOOKED, Outcome, Result, failed, would_change
from saltern.modules.api.commands import Done, Options, execute
from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.stateful import as_reported, is_stateful, test_command

# Accepted for compatibility with Salt; they have no effect.
UNUSED = frozenset(
    {"use_vt", "output_loglevel", "output_encoding", "binds", "password", "python_shell"}
    | {"raise_err", "log_callback", "ignore_retcode", "show_changes"}
)


def unchanged_result(ctx: Context, answer: Result, name: str) -> Result:
    """The result of a command that changes nothing: its output is data, not a change."""
    if not ctx.test:
        return replace(answer, changes={})
    if answer.outcome is Outcome.FAILED:
        comment = f'Command "{name}" fails now; its output is known after apply'
        return would_change(comment)
    return replace(answer, changes={}, extra={**answer.extra, LOOKED: True})


def rehearse(ctx: Context, name: str, options: Options, stateful: object) -> Result:
    if instead := test_command(stateful):
        done = execute(ctx, instead, options)
        return as_reported(answer_of(done, f'Command "{instead}" run'), done, test=True)
    changes: dict[str, object] = {} if is_stateful(stateful) else {"cmd": name}
    return would_change(f'Command "{name}" would have been executed', changes)


def answer_of(done: Done, comment: str, *, hide: bool = False, warnings: tuple[str, ...] = ()) -> Result:
    left = done.asdict()
    if not done.started:  # nothing happened; there is only the reason to report
        raise Refused(f"{comment}: {done.stderr}")
    if done.lost:
        return replace(failed(f"indeterminate: {done.stderr}"), extra={"indeterminate": True})
    if hide:
        left |= {"stdout": "", "stderr": ""}
    return Result(
        outcome=Outcome(not done.retcode),
        comment=comment,
        changes=left,
        data=dict(left),
        warnings=warnings,
        extra={"timed_out": True} if done.timed_out else {},
    )


def warn_unused(rest: Mapping[str, object]) -> tuple[str, ...]:
    """Warnings about further arguments, which Salt accepts and ignores, as we do."""
    if not rest:
        return ()
    known = (*Options.__struct_fields__, "stateful", "hide_output", "source", "template")
    meant = {"user": "did you mean 'runas'?", "args": "put them in the command"}
    return tuple(
        f"argument {name!r} has no effect here" + (f"; {hint}" if hint else "")
        for name in rest
        if name not in UNUSED
        for hint in (meant.get(name) or did_you_mean(name, known),)
    )
