"""Groups of parameters: declared once, and to everybody as if they were written out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypedDict, Unpack

import pytest

from saltern.language.result import Result, ok
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.params import BadArgument, Ignored, Schema, bind
from saltern.modules.api.registry import FUNCTIONS, STATES, Registry, schema


class Server(TypedDict, total=False):
    """Where it is.

    Args:
        host: the host; this
            one if not given.
        port: its port.
        secure: whether it is encrypted.
    """

    host: str | None
    port: int | None
    secure: bool


class _Base(TypedDict, total=False):
    first: str | None


class Lenient(_Base, total=False):
    """Without words of its own."""

    rest: object
    _: Ignored


class Needed(TypedDict):
    key: str


class Wrong(TypedDict, total=False):
    size: int


@state
def grouped(ctx: Context, name: str, *, owner: str, **server: Unpack[Server]) -> Result:
    """Make it.

    Args:
        name: what it is called.
        owner: whose it is.

    Example:
        ```yaml
        one: own.grouped
        ```
    """
    return ok(name, **server)


@state
def written(
    ctx: Context,
    name: str,
    *,
    owner: str,
    host: str | None = None,
    port: int | None = None,
    secure: bool = False,
) -> Result:
    """Make it.

    Args:
        name: what it is called.
        owner: whose it is.
        host: the host; this
            one if not given.
        port: its port.
        secure: whether it is encrypted.

    Example:
        ```yaml
        one: own.grouped
        ```
    """
    return ok(name)


def _plain(known: Schema) -> tuple[object, ...]:
    return known.params, list(known.params), known.required, known.open, known.lenient, known.rest


def test_a_group_is_the_same_as_its_parameters_written_out() -> None:
    assert _plain(schema(grouped)) == _plain(schema(written))
    assert schema(grouped).converters.keys() == schema(written).converters.keys()
    assert grouped.doc == written.doc


def test_values_are_converted_and_mistakes_are_found() -> None:
    known = schema(grouped)
    assert bind(known, {"owner": "joe", "port": "80", "secure": "yes"}) == {
        "owner": "joe",
        "port": 80,
        "secure": True,
    }
    for args, told in (
        ({"owner": "joe", "port": "x"}, "argument 'port': needs a number, got 'x'"),
        ({"owner": "joe", "prot": 1}, "no argument is called 'prot'; did you mean 'port'?"),
        ({"port": 1}, "argument 'owner' is missing"),
    ):
        with pytest.raises(BadArgument, match=told.replace("?", r"\?")):
            bind(known, args)


def test_a_group_may_let_further_keywords_pass() -> None:
    @state
    def lenient(ctx: Context, name: str, **given: Unpack[Lenient]) -> Result:
        return ok(name)

    known = schema(lenient)
    assert list(known.params) == ["first", "rest"]
    assert (known.open, known.lenient, known.rest) == (False, True, "Ignored")
    assert bind(known, {"first": 1, "other": 2}) == {"first": "1"}


def test_a_group_may_need_what_it_has() -> None:
    @state
    def needing(ctx: Context, name: str, **given: Unpack[Needed]) -> Result:
        return ok(name)

    assert schema(needing).required == ("key",)
    with pytest.raises(BadArgument, match="argument 'key' is missing"):
        bind(schema(needing), {})


def test_an_optional_key_that_cannot_be_left_out_is_a_mistake_of_the_module() -> None:
    @state
    def wrong(ctx: Context, name: str, **given: Unpack[Wrong]) -> Result:
        return ok(name)

    with pytest.raises(TypeError, match=r"write 'size: int \| None'"):
        schema(wrong)


@pytest.mark.parametrize(
    ("doc", "whole"),
    [
        ("", "\n\n    Args:\n        host: it.\n    "),
        ("Make it.", "Make it.\n\n    Args:\n        host: it.\n    "),
        (
            "Make it.\n\n    Args:\n        name: x.\n    ",
            "Make it.\n\n    Args:\n        name: x.\n        host: it.\n    ",
        ),
        (
            "Make it.\n\n    Args:\n        name: x.\n\n    Returns:\n        y\n    ",
            "Make it.\n\n    Args:\n        name: x.\n        host: it.\n\n    Returns:\n        y\n    ",
        ),
    ],
)
def test_the_words_of_a_group_follow_those_of_the_function(doc: str, whole: str) -> None:
    from saltern.modules.api.groups import Group, documented_with

    doc, whole = as_compiled(doc), as_compiled(whole)
    group = Group({}, frozenset(), "", as_compiled("Where.\n\n    Args:\n        host: it.\n    "))
    assert documented_with(doc, group) == whole
    assert documented_with(doc, None) == doc
    assert documented_with(doc, Group({}, frozenset(), "", "No rows.")) == doc


def _every() -> list[Any]:
    registry = Registry()
    look: dict[str, Callable[[str, str], Any]] = {
        "states": registry.state,
        "functions": lambda name, fun: registry.function(f"{name}.{fun}"),
    }
    kinds = {"states": STATES, "functions": FUNCTIONS}
    rows = [
        (kind, name, fun) for kind in kinds for name in kinds[kind] for fun in registry.members(kind, name)
    ]
    return [found for kind, name, fun in rows if (found := look[kind](name, fun)) is not None]


def test_every_argument_of_a_group_is_documented_where_it_is_used() -> None:
    users = [
        one
        for one in _every()
        if any(str(a).startswith("Unpack[") for a in one.body.__annotations__.values())
    ]
    assert len(users) > 20
    row = as_compiled("\n        ")
    for one in users:
        known = schema(one).params
        missing = [name for name in known if f"{row}{name}" not in one.doc and f", {name}" not in one.doc]
        assert missing == []


def as_compiled(doc: str) -> str:
    """From Python 3.13 on the compiler takes the indentation of a docstring away."""
    return doc.replace("\n    ", "\n") if sys.version_info >= (3, 13) else doc
