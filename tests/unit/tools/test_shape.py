"""What is too large is found, and the list of exceptions can only get shorter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.shape import (
    EXCEPTIONS,
    LIMITS,
    ROOT,
    Measure,
    lengths,
    measures,
    problems,
    sources,
    twins,
    typical,
)


def sizes(text: str, what: str) -> dict[str, int]:
    return {one.where: one.size for one in measures("a.py", text) if one.what == what}


def test_a_body_begins_after_signature_and_docstring() -> None:
    signature = "def f(\n    a: int,\n    b: int,\n) -> int:\n"
    text = f'{signature}    """Long.\n\n    Words.\n    """\n    x = a\n    return x\n'
    assert sizes(text, "lines of a body") == {"a.py:f": 2}
    assert lengths(text) == [10]


def test_a_function_of_a_docstring_alone_has_no_body() -> None:
    assert sizes('def f() -> None:\n    """Say."""\n', "lines of a body") == {"a.py:f": 0}


def test_methods_are_counted_by_name_and_inner_functions_are_none() -> None:
    text = """class A:
    @property
    def x(self): ...
    @x.setter
    def x(self, value): ...
    async def y(self):
        def inner(): ...
    class B:
        def z(self): ...
"""
    assert sizes(text, "methods") == {"a.py:A": 2, "a.py:A.B": 1}
    assert set(sizes(text, "lines of a body")) == {"a.py:A.x", "a.py:A.y", "a.py:A.y.inner", "a.py:A.B.z"}


def test_callbacks_are_parameters_that_are_called() -> None:
    text = "def f(a: Callable[[], None], *, b: Callable[..., int] | None = None, c: int = 0): ...\n"
    assert sizes(text, "callbacks") == {"a.py:f": 2}


def test_a_file_is_as_long_as_its_lines() -> None:
    assert sizes("x = 1\ny = 2\n", "lines of a file") == {"a.py": 2}


@pytest.mark.parametrize(
    ("size", "allowed", "words"),
    [
        (15, 0, ""),
        (16, 0, "16; the limit is 15: split it"),
        (20, 20, ""),
        (21, 20, "21; the limit is 20: split it"),
        (19, 20, "19, no longer 20: lower the exception"),
        (15, 20, "15 is within the limit: remove the exception"),
    ],
)
def test_an_exception_may_neither_grow_nor_stay_when_the_code_shrinks(
    size: int, allowed: int, words: str
) -> None:
    key = "methods of a.py:A"
    found = problems([Measure("methods", "a.py:A", size)], {key: allowed} if allowed else {})
    assert found == ([f"{key}: {words}"] if words else [])


def test_an_exception_for_what_is_gone_is_a_problem() -> None:
    (only,) = problems([], {"methods of b.py:B": 20})
    assert only == "methods of b.py:B: it no longer exists: remove the exception"


@given(st.integers(1, 200), st.integers(1, 200))
def test_what_passes_with_an_exception_is_exactly_as_large_as_it_says(size: int, allowed: int) -> None:
    passes = not problems([Measure("methods", "a.py:A", size)], {"methods of a.py:A": allowed})
    assert passes == (size == allowed and size > LIMITS["methods"])


def test_a_body_that_stands_twice_is_found_whatever_its_name_and_its_words_are() -> None:
    body = "    a = 1\n    b = 2\n    c = 3\n    d = 4\n    return a + b + c + d\n"
    one = f'def one() -> int:\n    """First."""\n{body}'
    two = f"def two() -> int:\n{body}"
    (only,) = twins([("a.py", one), ("b.py", two)])
    assert only == "a.py:one, b.py:two: the same body: write it once"
    assert twins([("a.py", one), ("b.py", two.replace("d = 4", "d = 5"))]) == []
    short = "def f() -> int:\n    return 1\n"
    assert twins([("a.py", short), ("b.py", short)]) == []


def test_median_and_ninetieth() -> None:
    assert typical(list(range(1, 100))) == (50, 90)


def test_every_file_is_measured_but_those_that_are_named() -> None:
    files = {file for file, _ in sources(ROOT)}
    assert "engine/session.py" in files
    assert not any("migrations/versions" in file for file in files)
    assert {key.split(" of ")[-1].split(":")[0] for key in EXCEPTIONS} <= files
