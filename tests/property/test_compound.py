"""The parser against an evaluator that cannot be wrong: Python's own, on the words as booleans."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from saltern.targeting.match import BadTarget, Subject, matches

HERE = Subject(id="web1", grains={"os": "Debian"})

# Targets and whether they mean this machine.
TERMS = {
    "web*": True,
    "db*": False,
    "G@os:Debian": True,
    "G@os:RedHat": False,
    "E@web[0-9]": True,
    "L@a,b": False,
    "*": True,
}

words = st.sampled_from(sorted(TERMS))


def grouped(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    return st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: [*t[0], t[1], *t[2]]),
        inner.map(lambda each: ["(", *each, ")"]),
        words.map(lambda word: ["not", word]),
        inner.map(lambda each: ["not", "(", *each, ")"]),
    )


expressions = st.recursive(words.map(lambda word: [word]), grouped, max_leaves=12)


def naive(expression: list[str]) -> bool:
    return bool(eval(" ".join(str(TERMS.get(word, word)) for word in expression)))


@given(expressions)
def test_every_well_formed_expression_means_what_its_words_mean(expression: list[str]) -> None:
    assert matches(HERE, " ".join(expression)) is naive(expression)
    assert matches(HERE, expression) is naive(expression)


@given(expressions, expressions)
def test_not_after_an_operand_is_and_not(left: list[str], right: list[str]) -> None:
    short = ["(", *left, ")", "not", "(", *right, ")"]
    long = ["(", *left, ")", "and", "not", "(", *right, ")"]
    assert matches(HERE, short) is matches(HERE, long) is naive(long)


@given(st.lists(st.sampled_from([*TERMS, "and", "or", "not", "(", ")"]), max_size=12))
def test_any_words_are_an_answer_or_a_told_problem(words: list[str]) -> None:
    try:
        answer = matches(HERE, words)
    except BadTarget as problem:
        assert problem.what
    else:
        implied = [
            "and not" if word == "not" and at and words[at - 1] in (*TERMS, ")") else word
            for at, word in enumerate(words)
        ]
        assert answer is bool(eval(" ".join(str(TERMS.get(word, word)) for word in implied)))


@given(st.text(max_size=30))
def test_any_text_is_an_answer_or_a_told_problem(text: str) -> None:
    try:
        assert matches(HERE, text) in (True, False)
    except BadTarget as problem:
        assert problem.what
