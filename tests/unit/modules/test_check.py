"""What signatures say before anything runs."""

from __future__ import annotations

import pytest
from tests.kit import chunk

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.modules.check import check
from saltern.modules.registry import Registry


def found(*chunks: Chunk, strict: bool = False) -> Diagnostics:
    result = Diagnostics()
    check(chunks, Registry(), result, strict=strict)
    return result


@pytest.mark.parametrize(
    ("one", "code", "told"),
    [
        (chunk("a", state="tset"), "state-unknown", "did you mean 'test'?"),
        (chunk("a", fun="nopp"), "state-unknown", "did you mean 'nop'?"),
        (chunk("a", state="file", fun="touch", atimes=1), "argument-unknown", "did you mean 'atime'?"),
        (chunk("a", state="file", fun="copy"), "argument-missing", "'source'"),
    ],
)
def test_a_problem_is_a_warning_and_with_strict_an_error(one: Chunk, code: str, told: str) -> None:
    (warning,) = found(one).warnings
    assert warning.code == code and told in str(warning)
    (error,) = found(one, strict=True).errors
    assert (error.code, error.what) == (warning.code, warning.what)


def test_words_of_the_engine_are_never_unknown() -> None:
    one = chunk("a", state="file", fun="touch", require=[], order=1, onlyif="true", name="x", __note__=1)
    assert not found(one)


def test_a_function_that_takes_anything_has_no_unknown_arguments() -> None:
    assert not found(chunk("a", whatever=1))


def test_every_chunk_is_told_not_only_the_first_of_its_kind() -> None:
    assert len(found(chunk("a", fun="nopp"), chunk("b", fun="nopp")).warnings) == 2


def test_the_place_of_an_unknown_argument_is_its_own() -> None:
    (warning,) = found(chunk("a", state="file", fun="touch", atimes=1)).warnings
    assert str(warning.where) == "main.sls"
