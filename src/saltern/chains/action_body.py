"""The common parts of all kinds of actions: a schema, and the state that the action becomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

Seconds = Annotated[float, Meta(ge=0)]
Text = Annotated[str, Meta(min_length=1)]
Names = Annotated[list[Text], Meta(min_length=1)]
Env = dict[str, str | int | float | bool]


class Call(Struct, frozen=True):
    """A state: its function and its arguments."""

    function: str
    args: Mapping[str, object]


class Body(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The value of the key that names the kind of an action."""

    def mistake(self) -> str:
        """A mistake in the values that their types do not exclude; empty if there is none."""
        return ""

    def call(self, salt: bool) -> Call:
        """The state of this action, for saltern or for a real Salt."""
        raise NotImplementedError


def given_arguments(**args: object) -> dict[str, object]:
    return {name: value for name, value in args.items() if value not in (None, [], {}, "")}


def one_of(body: Struct, *names: str) -> str:
    given = [name for name in names if getattr(body, name) not in (None, False)]
    wanted = ", ".join(names)
    return (
        "" if len(given) == 1 else f"exactly one of {wanted} is needed, not {' and '.join(given) or 'none'}"
    )


def module_call(function: str, **args: object) -> Call:
    return Call("module.run", {function: [{name: value} for name, value in given_arguments(**args).items()]})
