"""The keys of each kind of action, as rows for a form; read from the structs of the kinds."""

from __future__ import annotations

import functools
from typing import Any

import msgspec
from msgspec import Struct, inspect

from saltern.chains.actions import KINDS, Kind, Safety
from saltern.chains.document import Policy

SAFETY = {
    Safety.REPEATED: "it is run again, which is safe",
    Safety.ONCE: "how it ended is unknown: an operator checks, then retries, skips or declares it done;"
    " `verify` or `resume` can decide instead",
    Safety.PROVEN: "the machine itself proves whether it happened",
}


class Field(Struct, frozen=True, kw_only=True):
    """One key. ``type`` is text, number, whole, switch, choice, list, words (a text or a list) or mapping."""

    name: str
    type: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()


class KindSchema(Struct, frozen=True, kw_only=True):
    """One kind of action: its purpose, its keys, and the meaning of a crash during it."""

    kind: str
    about: str
    short: str
    barrier: bool
    looks: bool
    safety: str
    fields: tuple[Field, ...]


@functools.cache
def kind_schemas() -> dict[str, KindSchema]:
    """Every kind by its name, in the order of the reference."""
    return {name: _kind(name, row) for name, row in KINDS.items()}


@functools.cache
def policy_fields() -> tuple[Field, ...]:
    """The keys that any action may have besides its kind."""
    return _fields(Policy)


def _kind(name: str, row: Kind) -> KindSchema:
    about = " ".join((row.body.__doc__ or "").split()).replace("``", "")
    return KindSchema(
        kind=name,
        about=about,
        short=row.short,
        barrier=row.barrier,
        looks=row.looks,
        safety=SAFETY[row.safety],
        fields=_fields(row.body),
    )


def _fields(shape: type[Struct]) -> tuple[Field, ...]:
    found = inspect.type_info(shape)
    assert isinstance(found, inspect.StructType)
    rows = sorted(found.fields, key=lambda one: not one.required)
    return tuple(_field(one) for one in rows)


def _field(one: inspect.Field) -> Field:
    type_, choices = _type(one.type)
    default = None if one.default is msgspec.NODEFAULT else one.default
    choices = tuple(sorted(choices, key=lambda choice: choice != default))  # the default comes first
    return Field(name=one.encode_name, type=type_, required=one.required, default=default, choices=choices)


PLAIN: tuple[tuple[type[inspect.Type], str], ...] = (
    (inspect.BoolType, "switch"),
    (inspect.IntType, "whole"),
    (inspect.FloatType, "number"),
    (inspect.StrType, "text"),
    (inspect.ListType, "list"),
    (inspect.DictType, "mapping"),
    (inspect.StructType, "mapping"),
)


def _type(given: inspect.Type) -> tuple[str, tuple[str, ...]]:
    if isinstance(given, inspect.LiteralType):
        return "choice", tuple(str(one) for one in given.values)
    if not isinstance(given, inspect.UnionType):
        return next(word for kind, word in PLAIN if isinstance(given, kind)), ()
    own = [_type(one) for one in given.types if not isinstance(one, inspect.NoneType)]
    if len(own) == 1:
        return own[0]
    words = {word for word, _ in own}
    if "mapping" in words:
        return "mapping", ()
    return ("words" if "list" in words else "text"), ()
