"""Inputs of a chain: declared in its file, checked with their lines, put where actions refer to them."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.chains.compile import plan_for
from saltern.chains.document import Chain, read_chain
from saltern.chains.inputs import (
    MASK,
    READERS,
    Input,
    fill_inputs,
    mask_values,
    read_value,
    references,
    resolve,
)
from saltern.language.diagnostics import ChainError

CHAIN = """\
chain: c
inputs:
  version: {required: true, pattern: '[0-9.]+'}
  count: {type: integer, default: 3}
  mode: {enum: [fast, safe], default: safe}
  mask: {type: string}
  key: {type: string, secret: true}
actions:
  - {id: a, command: 'install ${input:version} ${input:mode} ${input:count} $${input:count}'}
  - {id: b, wait: '${input:count}'}
  - {id: c, file: {path: /etc/x, contents: '${input:key}', mode: '${input:mask}'}}
"""


def problems(text: str, inputs: dict[str, Any] | None = None) -> list[str]:
    with pytest.raises(ChainError) as caught:
        read_chain(text, "c.yaml", inputs)
    return [f"{one.where.file}:{one.where.line}: {one.what}" for one in caught.value.diagnostics if one.where]


def body(chain: Chain, action: str) -> Any:
    return next(one.body for one in chain.actions if one.id == action)


def test_inputs_are_where_actions_refer_to_them_with_their_type() -> None:
    chain = read_chain(CHAIN, "c.yaml", {"version": "1.2", "count": "7", "mask": "0600", "key": "k"})
    assert body(chain, "a").run == "install 1.2 safe 7 ${input:count}"
    assert body(chain, "b").seconds == 7
    assert (body(chain, "c").contents, body(chain, "c").mode) == ("k", "0600")
    assert chain.values == {"version": "1.2", "count": 7, "mode": "safe", "mask": "0600", "key": "k"}
    assert mask_values(chain.inputs, chain.values)["key"] == MASK


def test_a_file_can_be_looked_at_without_inputs() -> None:
    chain = read_chain(CHAIN, "c.yaml")
    assert [one.id for one in chain.actions] == ["a", "b", "c"]
    assert chain.values == {}


def test_every_problem_of_what_is_given_has_the_line_of_its_input() -> None:
    assert problems(CHAIN, {"version": "x y", "count": "many", "mode": "slow", "colour": 1}) == [
        "c.yaml:2: the chain has no input 'colour'",
        "c.yaml:3: input 'version': it must match '[0-9.]+', not 'x y'",
        "c.yaml:4: input 'count': it must be an integer, not 'many'",
        "c.yaml:5: input 'mode': it must be one of fast, safe, not 'slow'",
    ]
    assert problems(CHAIN, {"mask": "0600"}) == ["c.yaml:3: input 'version' is missing"]


def test_a_secret_is_not_repeated_in_a_problem() -> None:
    text = CHAIN.replace("{type: string, secret: true}", "{type: integer, secret: true}")
    (found,) = problems(text, {"version": "1", "mask": "0600", "key": "hunter2"})
    assert found == "c.yaml:7: input 'key': it must be an integer"


@pytest.mark.parametrize(
    ("declared", "what"),
    [
        ("{required: true, default: x}", "required: an input with a default is never missing"),
        ("{type: integer, default: x}", "default: it must be an integer, not 'x'"),
        ("{type: integer, default: '3'}", "default: it must be integer, not a text"),
        ("{type: integer, pattern: x}", "pattern: only a string has a pattern, and this is of type integer"),
        ("{pattern: '('}", "pattern: it is not a regular expression"),
        ("{enum: [a, 1]}", "enum: it must be a string, not '1'"),
        ("{enum: [a, b], default: c}", "default: it must be one of a, b, not 'c'"),
    ],
)
def test_a_declaration_that_cannot_be_met_is_reported_with_its_line(declared: str, what: str) -> None:
    text = f"chain: c\ninputs:\n  x: {declared}\nactions:\n  - {{id: a, command: 'true'}}\n"
    (found,) = problems(text)
    assert found.startswith(f"c.yaml:3: input 'x': {what}"), found


def test_mistakes_of_all_declarations_are_reported_each_with_its_line() -> None:
    text = CHAIN.replace("type: integer", "type: int").replace("secret: true", "secrt: true")
    assert problems(text) == [
        "c.yaml:4: type: 'int' is not possible",
        "c.yaml:7: no key is called 'secrt' here",
    ]


def test_an_input_that_is_not_declared_is_reported_where_it_is_used() -> None:
    (found,) = problems(CHAIN.replace("${input:mode}", "${input:mod}"))
    assert found == "c.yaml:9: no input is called 'mod'"


def test_a_number_is_a_text_where_a_place_takes_texts() -> None:
    text = (
        "chain: c\ninputs:\n  n: {type: integer, default: 5}\n"
        "actions:\n  - {id: a, file: {path: /x, contents: '${input:n}'}}\n  - {id: b, wait: '${input:n}'}\n"
    )
    chain = read_chain(text, "c.yaml", {})
    assert (body(chain, "a").contents, body(chain, "b").seconds) == ("5", 5)


def test_a_chain_without_declared_inputs_takes_any_and_leaves_texts_as_they_are() -> None:
    text = "chain: c\nactions:\n  - {id: a, command: 'echo ${input:x}'}\n"
    chain = read_chain(text, "c.yaml", {"anything": [1]})
    assert (body(chain, "a").run, chain.values) == ("echo ${input:x}", {"anything": [1]})


def test_other_inputs_are_another_plan_and_the_same_the_same() -> None:
    base = {"version": "1.2", "mask": "0600"}
    one, same, other = (
        plan_for(read_chain(CHAIN, "c.yaml", {**base, **more}), "web1").sha256()
        for more in ({}, {"count": 3}, {"count": 4})
    )
    assert one == same != other


texts = st.text(string.ascii_letters + "${}:$ ", max_size=12)
data = st.recursive(
    texts | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
)


@given(data)
def test_what_refers_to_nothing_stays_as_it_is(value: Any) -> None:
    if not references(value) and "${input:" not in str(value):
        assert fill_inputs(value, {"a": 1}) == value


@given(data, texts)
def test_after_filling_every_reference_is_gone_or_was_escaped(value: Any, put: str) -> None:
    value = {"v": value, "r": "${input:a} $${input:a}"}
    found = fill_inputs(value, {put: "x", "a": 1})
    assert found["r"] == "1 ${input:a}"


@given(st.sampled_from(sorted(READERS)), st.one_of(st.none(), st.booleans(), st.integers(), texts, data))
def test_a_value_that_was_read_reads_the_same_again(kind: Any, value: Any) -> None:
    spec = Input(type=kind)
    try:
        found = read_value(spec, value)
    except ValueError:
        return
    assert read_value(spec, found) == found


@given(st.dictionaries(st.sampled_from("abc"), texts))
def test_what_was_resolved_resolves_to_itself(given_: dict[str, str]) -> None:
    specs = {"a": Input(required=True), "b": Input(default="x"), "c": Input()}
    values, found = resolve(specs, given_)
    assert bool(found) == ("a" not in given_)
    if not found:
        assert resolve(specs, values) == (values, [])
