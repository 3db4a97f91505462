"""Access to the tree for functions, through the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from saltern.language.diagnostics import CompileError
from saltern.modules.api.context import Context, States
from saltern.modules.api.params import BadArgument

T = TypeVar("T")


def states(ctx: Context) -> States:
    if ctx.run.states is None:
        raise BadArgument("functions of 'state' work only in a run from saltern's command line")
    return ctx.run.states


def names(mods: object) -> list[str]:
    """The names in a list, or in a text with commas."""
    found = mods if isinstance(mods, list | tuple) else str(mods).split(",") if mods else []
    wanted = [str(one).strip() for one in found if str(one).strip()]
    if not wanted:
        raise BadArgument("mods needs the name of at least one SLS")
    return wanted


def or_problems(ask: Callable[[], T]) -> T | list[str]:
    """The return value, or all problems of the files as texts, as in Salt."""
    try:
        return ask()
    except CompileError as problem:
        return [str(one) for one in problem.diagnostics]
