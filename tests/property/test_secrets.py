"""Secrets: whatever surrounds them, they are masked, sealed and opened again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from saltern.journal import seal
from saltern.journal.form import Record
from saltern.language import secrets
from saltern.language.secret_tokens import fill_tokens
from saltern.planfile.conceal import conceal, reveal

words = st.text(min_size=secrets.WHOLE, max_size=30).filter(lambda text: len(text.strip()) >= secrets.WHOLE)
texts = st.text(max_size=40)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | texts | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(autouse=True)
def _none_are_left() -> Iterator[None]:
    yield
    secrets.forget()


def known(*values: object) -> None:
    secrets.forget()
    secrets.add(list(values))


@given(st.lists(words, min_size=1, max_size=4), st.lists(texts, min_size=1, max_size=5))
def test_no_text_holds_a_secret_after_it_was_masked(several: list[str], around: list[str]) -> None:
    known(*several)
    text = "".join(piece + several[at % len(several)] for at, piece in enumerate(around))
    masked = secrets.mask(text)
    # What is left and right of a mask may make up a secret that no one had written.
    for piece in masked.split(secrets.MASK):
        assert not any(word in piece for word in several)


@given(words, texts, texts)
@example("00000²", "", "")
def test_escaped_quoted_and_encoded_forms_are_masked_too(word: str, before: str, after: str) -> None:
    known(word)
    bare = word.strip()
    for form in (json.dumps(bare)[1:-1], repr(bare)[1:-1], json.dumps(bare, ensure_ascii=False)[1:-1]):
        text = f"{before} {form} {after}"
        pieces = secrets.mask(text).split(secrets.MASK)
        assert len(pieces) > 1
        assert all(form not in piece for piece in pieces)


@given(plain)
def test_without_secrets_data_stays_the_very_same_object(data: object) -> None:
    secrets.forget()
    assert secrets.mask_all(data) is data
    known("no data of this test has this in it ·")
    assert secrets.mask_all(data) is data


@given(st.lists(words, min_size=1, max_size=3), plain, st.integers(10**6, 10**9), st.binary(min_size=8))
def test_what_is_sealed_is_opened_as_it_was(
    several: list[str], data: object, number: int, raw: bytes
) -> None:
    known(*several, number, raw)
    body = {
        "a": [data, several, f"x{several[0]}y"],
        several[-1]: {"n": number, "b": raw + b"!", "t": str(number)},
    }
    with tempfile.TemporaryDirectory() as folder:
        sealer = seal.Seal(f"{folder}/run")
        sealed = sealer.seal_body(body)
        sealer.keep()
        assert not secrets.holds(_without_tokens(sealed))
        assert seal.open_records([Record(0, "x", sealed)], f"{folder}/run")[0].body == body
        masked = seal.masked_records([Record(0, "x", sealed)])[0].body
        assert not secrets.holds(masked)
    assert reveal(conceal(body, "salt"), "salt") == body
    secrets.forget()
    assert fill_tokens(sealed, lambda _: None) == sealed


def _without_tokens(value: object) -> object:
    return fill_tokens(value, lambda _: secrets.MASK)


def test_another_key_opens_nothing(tmp_path: object) -> None:
    known("hunter2222")
    sealed = seal.Seal(f"{tmp_path}/one").seal_body(["hunter2222"])
    other = seal.Seal(f"{tmp_path}/two")
    other.keep(new=True)
    for path in ("one", "two"):
        with pytest.raises(seal.KeyLost):
            seal.open_records([Record(0, "x", sealed)], f"{tmp_path}/{path}")


@pytest.mark.parametrize(
    ("secret", "text", "shown"),
    [
        ("abc", "pin=abc", "pin=***"),
        ("abc", "abcd xabc", "abcd xabc"),
        ("ab", "ab", "***"),
        ("ab", "about ab", "about ab"),
        ("true", "true", "true"),
        ("first line\nsecond line", "-first line\n+second line", "-***\n+***"),
        ("p@ss/word", "http://u:p%40ss%2Fword@h", "http://u:***@h"),
    ],
)
def test_short_secrets_are_words_and_long_ones_are_found_anywhere(secret: str, text: str, shown: str) -> None:
    known(secret)
    assert secrets.mask(text) == shown
