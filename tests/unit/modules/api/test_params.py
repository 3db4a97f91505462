"""A signature is a schema: what is taken, converted, refused."""

from __future__ import annotations

import pytest

from saltern.language.result import Result, ok
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument, bind, schema_of

Mode = str


def everything(
    ctx: Context,
    name: str,
    *,
    text: str = "",
    number: int = 0,
    fraction: float = 0.0,
    flag: bool = False,
    texts: list[str] = [],  # noqa: B006 - only the signature counts
    mapping: dict[str, object] = {},  # noqa: B006
    mode: Mode | None = None,
    maybe: int | None = None,
    either: str | int = "",
    anything: object = None,
    runas: str = "",
) -> Result:
    return ok()


def demanding(ctx: Context, name: str, source: str, *, target: str, **more: object) -> Result:
    return ok()


SCHEMA = schema_of(everything, skip=2)


@pytest.mark.parametrize(
    ("name", "given", "bound"),
    [
        ("text", "x", "x"),
        ("text", 5, "5"),
        ("text", 1.5, "1.5"),
        ("text", True, "True"),
        ("number", 5, 5),
        ("number", "5", 5),
        ("number", 5.0, 5),
        ("fraction", "1.5", 1.5),
        ("fraction", 2, 2.0),
        ("flag", True, True),
        ("flag", "yes", True),
        ("flag", "Off", False),
        ("flag", 1, True),
        ("flag", None, False),
        ("flag", "", False),
        ("texts", ["a", 5], ["a", "5"]),
        ("texts", "a", ["a"]),
        ("texts", [], []),
        ("mapping", {"a": 1}, {"a": 1}),
        ("mapping", [{"a": 1}, {"b": 2}], {"a": 1, "b": 2}),
        ("mode", 644, "0644"),
        ("mode", "0644", "0644"),
        ("mode", "0o644", "0644"),
        ("mode", 4755, "4755"),
        ("mode", 0, "0000"),
        ("mode", "keep", "keep"),
        ("mode", None, None),
        ("maybe", None, None),
        ("maybe", "7", 7),
        ("either", [1], [1]),
        ("anything", {"x": [1]}, {"x": [1]}),
    ],
)
def test_yaml_values_become_what_the_function_wants(name: str, given: object, bound: object) -> None:
    assert bind(SCHEMA, {name: given}) == {name: bound}


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("text", [1], "needs text, got a list"),
        ("text", None, "needs text, got nothing"),
        ("number", "five", "needs a number, got 'five'"),
        ("number", True, "needs a number, got true or false"),
        ("number", None, "needs a number"),
        ("fraction", {}, "needs a number, got a mapping"),
        ("flag", "perhaps", "needs true or false, got 'perhaps'"),
        ("flag", [], "needs true or false"),
        ("texts", [["a"]], "needs text, got a list"),
        ("mapping", "a", "needs a mapping, got text"),
        ("mapping", ["a"], "needs a mapping"),
        ("mode", 999, "octal"),
        ("mode", "rw", "octal"),
        ("mode", True, "file mode"),
        ("mode", -1, "octal"),
        ("maybe", "x", "needs a number"),
    ],
)
def test_a_value_that_cannot_be_converted_is_reported_with_its_argument(
    name: str, given: object, told: str
) -> None:
    with pytest.raises(BadArgument, match=f"argument '{name}'") as problem:
        bind(SCHEMA, {name: given})
    assert told in str(problem.value)


@pytest.mark.parametrize("given", [float("inf"), float("nan")])
def test_a_number_without_an_end_is_no_whole_number(given: float) -> None:
    with pytest.raises(BadArgument, match="needs a number"):
        bind(SCHEMA, {"number": given})


def test_words_of_the_engine_are_left_out_unless_the_function_names_them() -> None:
    args = {"require": [], "order": 1, "name": "x", "names": [], "__id__": "x", "runas": "me", "text": "t"}
    assert bind(SCHEMA, args) == {"runas": "me", "text": "t"}


def test_an_unknown_argument_suggests_a_near_one() -> None:
    with pytest.raises(BadArgument, match="no argument is called 'txet'; did you mean 'text"):
        bind(SCHEMA, {"txet": 1})


def test_a_function_with_a_catch_all_takes_anything_but_needs_what_it_needs() -> None:
    schema = schema_of(demanding, skip=2)
    assert (schema.open, schema.required) == (True, ("source", "target"))
    assert bind(schema, {"source": 1, "target": 2, "odd": [3]}) == {"source": "1", "target": "2", "odd": [3]}
    with pytest.raises(BadArgument) as problem:
        bind(schema, {"odd": 1})
    assert str(problem.value).splitlines() == ["argument 'source' is missing", "argument 'target' is missing"]


def test_every_problem_has_a_line() -> None:
    with pytest.raises(BadArgument) as problem:
        bind(SCHEMA, {"number": "x", "flag": "x", "zzz": 1})
    assert len(str(problem.value).splitlines()) == 3


def test_the_schema_knows_defaults_and_annotations() -> None:
    assert SCHEMA.params["number"].annotation == "int"
    assert SCHEMA.params["number"].default == 0
    assert not SCHEMA.params["number"].required
    assert "name" not in SCHEMA.params
