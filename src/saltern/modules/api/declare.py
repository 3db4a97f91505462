"""How a module function is declared.

``@state`` marks a function for SLS files, ``@function`` one for ``salt['mod.fun']``. They
register nothing: the registry collects the marked objects when it imports a module, so
importing has no side effects and tests call the object like the function it wraps.

``@state(repeat="once", …)`` declares properties of the function, those of ``Nature``. Common properties of
all functions of a module are in its ``NATURE``; those of the function override them.

A state module may also have ``mod_watch`` (the reaction to a change in a watched
state, with the original function as ``sfun``) and ``mod_aggregate``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Concatenate, Generic, ParamSpec, TypeVar, overload

from saltern.language.nature import Nature
from saltern.language.result import Result
from saltern.modules.api.attempt import attempt
from saltern.modules.api.context import Context
from saltern.modules.api.groups import documented_with, unpacked_group

if TYPE_CHECKING:
    from typing import Unpack

    from saltern.language.nature_words import NatureWords
    from saltern.modules.api.params import Schema

P = ParamSpec("P")
R = TypeVar("R")
Body = Callable[Concatenate[Context, P], Result]


class StateFunction(Generic[P]):
    """A state function and its properties; ``words`` are those of its ``Nature``."""

    __slots__ = ("body", "doc", "label", "module", "name", "schema", "words")

    def __init__(self, body: Body[P], name: str = "", words: NatureWords | None = None) -> None:
        self.body = body
        self.words: NatureWords = words or {}
        self.name = name or body.__name__
        self.doc = documented_with(body.__doc__ or "", unpacked_group(body))
        self.module = body.__module__
        self.label = label_of(self)
        self.schema: Schema | None = None

    def attempt(self, ctx: Context, *args: P.args, **kwargs: P.kwargs) -> Result:
        """The result in this context, also if the body raises."""
        return attempt(ctx, partial(self.body, ctx, *args, **kwargs), self.label)

    def __call__(self, ctx: Context, *args: P.args, **kwargs: P.kwargs) -> Result:
        """The result, for another state or a test; exceptions of the body are raised."""
        return self.attempt(ctx.about(), *args, **kwargs)


def label_of(function: StateFunction[P]) -> str:
    """The name in messages; cached, since every call needs it. Reset it after changing the module."""
    return f"{function.module.rpartition('.')[2]}.{function.name}"


class Function(Generic[P, R]):
    """An execution function."""

    __slots__ = ("body", "doc", "module", "name", "schema")

    def __init__(self, body: Callable[Concatenate[Context, P], R], name: str = "") -> None:
        self.body = body
        self.name = name or body.__name__
        self.doc = documented_with(body.__doc__ or "", unpacked_group(body))
        self.module = body.__module__
        self.schema: Schema | None = None

    def __call__(self, ctx: Context, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.body(ctx, *args, **kwargs)


def make_docstring(said: str, call: str, *answer: str) -> str:
    """The docstring of a generated function: its sentence, and one call with its output."""
    shown = ["    local:", *(f"        {line}" for line in answer)] if answer else []
    return "\n".join(
        [said, "", "Example:", "    ```console", f"    $ saltern call {call}", *shown, "    ```"]
    )


@overload
def state(body: Body[P]) -> StateFunction[P]: ...
@overload
def state(*, name: str = "", **words: Unpack[NatureWords]) -> Callable[[Body[P]], StateFunction[P]]: ...
def state(
    body: Body[P] | None = None, *, name: str = "", **words: Unpack[NatureWords]
) -> StateFunction[P] | Callable[[Body[P]], StateFunction[P]]:
    """Mark a state function, with the properties of its ``Nature``; ``name`` if it is not a Python name."""
    if words:
        Nature(**words)  # a wrong property is found where it is written
    if body is not None:
        return StateFunction(body)
    return lambda late: StateFunction(late, name, words)


@overload
def function(body: Callable[Concatenate[Context, P], R]) -> Function[P, R]: ...
@overload
def function(*, name: str) -> Callable[[Callable[Concatenate[Context, P], R]], Function[P, R]]: ...
def function(
    body: Callable[Concatenate[Context, P], R] | None = None, *, name: str = ""
) -> Function[P, R] | Callable[[Callable[Concatenate[Context, P], R]], Function[P, R]]:
    """Mark an execution function; ``name`` if it is not a Python name (``test.true``)."""
    if body is not None:
        return Function(body)
    return lambda late: Function(late, name)
