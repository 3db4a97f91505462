"""Whatever a file holds, the answer is a report or a told problem, never an exception."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import kit

from saltern.language.keywords import ENGINE_WORDS
from saltern.language.requisites import REQUISITE_WORDS

usual = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

WORDS = (
    "a",
    "b",
    "*",
    "[",
    "true",
    "false",
    "",
    "test",
    "test.nop",
    "base",
    "1",
    "__slot__:salt:test.echo(a)",
    "__slot__:x",
)
FUNCTIONS = (
    "test.nop",
    "test.succeed_with_changes",
    "test.fail_without_changes",
    "test.nopp",
    "cmd",
    "test",
    "x.y",
)
# Processes of their own are slow, and another user's commands are another matter.
ARGUMENTS = sorted(
    (ENGINE_WORDS | {"name", "names", "comment", "timeout", "cwd", "env", "fun"}) - {"parallel", "runas"}
)

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 20000), st.sampled_from([0.5, -1.5]), st.sampled_from(WORDS)
)
keys = st.sampled_from([*WORDS, "fun", "args", "attempts", "interval"])
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=2)),
    max_leaves=5,
)
items = st.one_of(
    st.dictionaries(st.sampled_from(ARGUMENTS), values, min_size=1, max_size=1),
    st.dictionaries(st.sampled_from(ARGUMENTS), st.lists(values, max_size=2), min_size=1, max_size=2),
    st.sampled_from(["nop", "succeed_with_changes"]),
    values,
)
bodies = st.one_of(
    st.dictionaries(st.sampled_from(FUNCTIONS), st.one_of(st.lists(items, max_size=4), values), max_size=2),
    st.sampled_from(FUNCTIONS),
    values,
)
sections = st.fixed_dictionaries(
    {},
    optional={
        "include": st.one_of(
            st.lists(st.sampled_from(["other", "main", "o*", ".", "..x", "gone"]), max_size=2), values
        ),
        "extend": st.one_of(st.dictionaries(st.sampled_from("abc"), bodies, max_size=2), values),
        "exclude": st.one_of(st.lists(st.one_of(values, st.just({"id": "a"})), max_size=2), values),
    },
)
files = st.tuples(
    st.dictionaries(st.sampled_from(["a", "b", "c", "*", "x[0]"]), bodies, max_size=3), sections
).map(lambda both: {**both[1], **both[0]})


def tried(text: str, other: str, *, test: bool = False) -> None:
    tree = {"main.sls": text, "other.sls": other}
    with kit.tree(tree) as made:
        outcome = kit.attempt(made, kit.request_for(tree), test=test)
    assert outcome.report is not None or outcome.problems
    for problem in outcome.problems:
        assert problem.what and problem.code


@usual
@given(files, files, st.booleans())
def test_data_of_any_shape_is_answered(main: object, other: object, test: bool) -> None:
    tried(json.dumps(main), json.dumps(other), test=test)


@usual
@given(st.text(max_size=60))
def test_text_of_any_kind_is_answered(text: str) -> None:
    tried(text.encode("utf-8", "replace").decode(), "")


@usual
@given(
    st.lists(
        st.sampled_from(
            ["a", ":", " ", "\n", "- ", "{{", "}}", "{%", "%}", "'", "#!", "|", "&x", "*x", "\t"]
        ),
        max_size=14,
    )
)
def test_scraps_of_syntax_are_answered(scraps: list[str]) -> None:
    tried("".join(scraps), "")


plain = sorted(set(ARGUMENTS) - REQUISITE_WORDS)
odd = st.one_of(values, st.sampled_from([float("inf"), float("nan"), -5, "a\0b", 10**30]))
mild = st.dictionaries(
    st.sampled_from("abc"),
    st.dictionaries(
        st.sampled_from(FUNCTIONS[:3]),
        st.lists(st.dictionaries(st.sampled_from(plain), odd, min_size=1, max_size=1), max_size=4),
        min_size=1,
        max_size=1,
    ),
    max_size=2,
)


def _yaml(data: object) -> str:
    """JSON, but for what JSON has no word for."""
    return json.dumps(data).replace("-Infinity", "-.inf").replace("Infinity", ".inf").replace("NaN", ".nan")


@usual
@given(mild, st.booleans())
def test_arguments_of_any_value_are_answered(main: object, test: bool) -> None:
    tried(_yaml(main), "", test=test)
