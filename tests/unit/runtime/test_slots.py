"""Slots: what they say, and what becomes of them."""

from __future__ import annotations

import pytest
from tests.kit import ScriptedCaller

from saltern.runtime.slots import BadSlot, has_slots, parse, resolve


def echo(*args: object, **kwargs: object) -> object:
    return {"args": list(args), "kwargs": kwargs, "list": ["a", {"b": "c"}], "text": "said"}


CALLER = ScriptedCaller(
    functions={"test.echo": echo, "test.say": lambda text="": text, "test.burn": lambda: 1 / 0}
)


@pytest.mark.parametrize(
    ("text", "args", "kwargs"),
    [
        ("()", [], {}),
        ("(a)", ["a"], {}),
        ("(a, b)", ["a", "b"], {}),
        ("(1, true)", ["1", "true"], {}),
        ("('a, b', \"c)\")", ["a, b", "c)"], {}),
        ("('')", [""], {}),
        ("(k=v)", [], {"k": "v"}),
        ("(a, k = 'v w')", ["a"], {"k": "v w"}),
        ("([a, b])", ["[a,b]"], {}),
        ("({k: [v]}, x)", ["{k:[v]}", "x"], {}),
        (r"('it\'s')", ["it's"], {}),
        (r"('a\nb')", [r"a\nb"], {}),
        ("(k=a=b)", [], {"k": "a=b"}),
        ("(https://x/?a=b)", ["https://x/?a=b"], {}),
        ("(f(x))", ["f(x)"], {}),
    ],
)
def test_every_argument_is_text(text: str, args: list[object], kwargs: dict[str, object]) -> None:
    name, got, keywords, path, appended = parse(f"__slot__:salt:mod.fun{text}")
    assert (name, got, keywords, path, appended) == ("mod.fun", args, kwargs, [], "")


@pytest.mark.parametrize(
    ("tail", "path", "appended"),
    [
        ("", [], ""),
        (".a", ["a"], ""),
        (".a.0.b", ["a", "0", "b"], ""),
        (" ~ more", [], "more"),
        (".a ~ 'more '", ["a"], "more "),
        (".a~more", ["a"], "more"),
        (' ~ "', [], '"'),
    ],
)
def test_behind_the_call_stand_a_path_and_text_to_append(tail: str, path: list[str], appended: str) -> None:
    assert parse(f"__slot__:salt:mod.fun(){tail}")[3:] == (path, appended)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("__slot__:", "provider ''"),
        ("__slot__:salt", "not a call"),
        ("__slot__:salt:", "not a call"),
        ("__slot__:salt:mod.fun", "not a call"),
        ("__slot__:salt:fun()", "not a call"),
        ("__slot__:grains:x.y()", "provider 'grains'"),
        ("__slot__:salt:mod.fun(", "not closed"),
        ("__slot__:salt:mod.fun('a)", "not closed"),
        ("__slot__:salt:mod.fun([a)", "not closed"),
        ("__slot__:salt:mod.fun()x", "a path begins with '.'"),
    ],
)
def test_a_slot_that_cannot_be_read_says_why(text: str, told: str) -> None:
    with pytest.raises(BadSlot, match="slot ") as problem:
        parse(text)
    assert told in str(problem.value)


def test_slots_are_filled_where_salt_looks_for_them() -> None:
    say = "__slot__:salt:test.say(hi)"
    args: dict[str, object] = {
        "plain": say,
        "mapping": {"k": say, "n": 1},
        "list": [say, {"k": say}, 5],
        "deep": [[say], {"k": [say]}],
        "inside": f"x {say}",
    }
    assert resolve(args, CALLER) == {
        "plain": "hi",
        "mapping": {"k": "hi", "n": 1},
        "list": ["hi", {"k": "hi"}, 5],
        "deep": [[say], {"k": [say]}],
        "inside": f"x {say}",
    }
    assert args["plain"] == say  # nothing of the chunk is changed


@pytest.mark.parametrize(
    ("tail", "value"),
    [
        (".text", "said"),
        (".text ~ more", "saidmore"),
        (".list.1.b", "c"),
        (".list.7", None),
        (".nothing.at.all", None),
        (".list ~ more", ["a", {"b": "c"}]),
    ],
)
def test_a_path_leads_into_the_result_and_what_is_missing_is_nothing(tail: str, value: object) -> None:
    assert resolve({"x": f"__slot__:salt:test.echo(){tail}"}, CALLER) == {"x": value}


@pytest.mark.parametrize(
    ("call", "told"), [("test.nothing()", "no function"), ("test.burn()", "test.burn failed")]
)
def test_a_function_that_is_missing_or_fails_is_a_bad_slot(call: str, told: str) -> None:
    with pytest.raises(BadSlot, match=told):
        resolve({"x": f"__slot__:salt:{call}"}, CALLER)


def test_only_arguments_with_slots_are_looked_into() -> None:
    assert has_slots({"a": "__slot__:x"})
    assert has_slots({"a": [{"b": "__slot__:x"}]})
    assert not has_slots({"a": "text", "b": ["list"], "c": {"d": 1}, "e": 5})
