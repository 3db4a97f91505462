"""No id of a system can be more than one token of a subject, or be taken for another one's."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from saltern.fleet.protocol.ids import (
    BadId,
    check_id,
    decode_token,
    encode_id,
    encode_token,
    is_jid,
    is_own_name,
    is_token,
    new_jid,
)

texts = st.text(min_size=1, max_size=60)


@given(texts)
def test_every_text_becomes_one_harmless_token_and_comes_back(text: str) -> None:
    token = encode_token(text)
    assert re.fullmatch(r"[A-Za-z0-9=-][A-Za-z0-9_=-]*", token)
    assert is_token(token) and not is_own_name(token)
    assert decode_token(token) == text


@given(texts, texts)
def test_two_ids_never_share_a_token(one: str, other: str) -> None:
    assume(one != other)
    assert encode_token(one) != encode_token(other)


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("web1.example.com", "web1=2Eexample=2Ecom"),
        ("Web_1-a", "Web_1-a"),
        ("_all", "=5Fall"),
        ("_site", "=5Fsite"),
        ("*", "=2A"),
        (">", "=3E"),
        ("a b", "a=20b"),
        ("ü", "=C3=BC"),
        ("a=2Eb", "a=3D2Eb"),
        ("{{name()}}", "=7B=7Bname=28=29=7D=7D"),
        ("$SYS", "=24SYS"),
    ],
)
def test_names_that_would_mean_something_to_the_broker_are_escaped(name: str, token: str) -> None:
    assert encode_id(name) == token


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        " a",
        "a ",
        "a/b",
        "../etc",
        "a\nb",
        "a\x00b",
        "a\x1b[31m",
        "\u202eevil",
        "x" * 256,
        "ü" * 128,
        "\ud800",
    ],
)
def test_what_cannot_be_the_id_of_a_system_is_refused(name: str) -> None:
    with pytest.raises(BadId):
        check_id(name)
    with pytest.raises(BadId):
        encode_id(name)


@pytest.mark.parametrize(
    "token", ["", "_all", "a.b", "*", ">", "a=", "a=2", "a=2e", "a=41", "=80", "a b", "ü", "=5f"]
)
def test_what_the_encoder_never_writes_is_not_decoded(token: str) -> None:
    with pytest.raises(BadId):
        decode_token(token)


@pytest.mark.parametrize("text", ["", "\ud800", "a\udfff"])
def test_what_has_no_bytes_cannot_be_a_token(text: str) -> None:
    with pytest.raises(BadId):
        encode_token(text)


def test_job_ids_sort_by_time_and_do_not_repeat() -> None:
    made = [new_jid(1_800_000_000 + second) for second in range(3)]
    assert made == sorted(made) and all(map(is_jid, made))
    assert len({new_jid(1_800_000_000.5) for _ in range(100)}) == 100
