"""What a hostile peer may send: refused with a reason, in time and memory that are bounded."""

from __future__ import annotations

import json
import zlib
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.protocol.codec import (
    MAX_DEPTH,
    BadMessage,
    Body,
    check_depth,
    decode,
    encode,
    pack_body,
    unpack_body,
)
from saltern.fleet.protocol.messages import MESSAGES, Event, Job, Return

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@given(st.binary(max_size=300), st.sampled_from(sorted(MESSAGES)))
def test_garbage_is_never_more_than_a_bad_message(data: bytes, kind: str) -> None:
    try:
        decode(MESSAGES[kind].shape, data)
    except BadMessage as problem:
        assert problem.reason in {"malformed", "newer"}


@given(values, st.sampled_from(sorted(MESSAGES)))
def test_json_of_any_shape_is_never_more_than_a_bad_message(value: object, kind: str) -> None:
    try:
        decode(MESSAGES[kind].shape, json.dumps(value).encode())
    except BadMessage:
        pass


@given(values)
def test_depth_is_counted_as_it_is_whatever_strings_hold(value: object) -> None:
    nested = value
    for _ in range(MAX_DEPTH - depth(value)):
        nested = ['"[{\\', nested]
    check_depth(json.dumps(nested).encode())
    with pytest.raises(BadMessage, match="nested deeper"):
        check_depth(json.dumps([nested]).encode())


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
@pytest.mark.parametrize("field", ["data", "unknown"])
def test_a_deeply_nested_bomb_is_refused(bracket: str, field: str) -> None:
    bomb = f'{{"tag":"x","{field}":{bracket * 20_000}'.encode()
    with pytest.raises(BadMessage) as caught:
        decode(Event, bomb)
    assert caught.value.reason == "too-deep"


def test_a_message_that_is_too_large_is_not_even_parsed() -> None:
    with pytest.raises(BadMessage) as caught:
        decode(Event, b"[" * (MESSAGES["event"].limit + 1))
    assert caught.value.reason == "too-large"
    with pytest.raises(BadMessage) as caught:
        encode(Event(tag="x", data={"a": "b" * MESSAGES["event"].limit}))
    assert caught.value.reason == "too-large"


@pytest.mark.parametrize("extra", [{}, {"function": {"new": "shape"}}])
def test_a_message_for_a_newer_reader_says_so_even_if_its_shape_has_changed(extra: dict[str, Any]) -> None:
    data = json.dumps({"v": 2, "jid": "j1", "function": "test.ping", **extra}).encode()
    with pytest.raises(BadMessage, match="upgrade") as caught:
        decode(Job, data)
    assert caught.value.reason == "newer"


@pytest.mark.parametrize("jid", ["", ".", "a b", "a/b", "../x", "x" * 65, "*", ">", "é"])
def test_what_is_no_job_id_is_refused(jid: str) -> None:
    with pytest.raises(BadMessage):
        decode(Return, json.dumps({"jid": jid, "status": "returned"}).encode())


def test_a_version_below_one_is_malformed() -> None:
    with pytest.raises(BadMessage):
        decode(Job, b'{"v":0,"jid":"j","function":"f"}')


# -- bodies ----------------------------------------------------------------------------------------


@given(values)
def test_a_body_is_unpacked_as_it_was(value: object) -> None:
    assert unpack_body(pack_body(value)) == json.loads(json.dumps(value))


def test_a_long_body_travels_in_parts_that_fit_into_messages() -> None:
    chance = Random(1)
    value = [chance.randbytes(1000).hex() for _ in range(2000)]
    body = pack_body(value)
    assert len(body.parts) > 1 and body.encoding == "json+zlib"
    for number, part in enumerate(body.parts):
        encode(Return(jid="j", status="returned", part=number, parts=len(body.parts), body=part))
    assert unpack_body(body) == value


def test_a_body_above_the_limit_is_refused_by_who_sends_it() -> None:
    with pytest.raises(BadMessage) as caught:
        pack_body("x" * 2000, limit=1000)
    assert caught.value.reason == "too-large"


def bomb(size: int) -> tuple[bytes, ...]:
    stream = zlib.compressobj(9)
    return (b"".join(stream.compress(bytes(1 << 20)) for _ in range(size)) + stream.flush(),)


@pytest.mark.parametrize("said", [10, 1 << 20])
def test_a_compressed_bomb_is_stopped_at_the_size_it_gives(said: int) -> None:
    import tracemalloc

    packed = bomb(256)
    tracemalloc.start()
    with pytest.raises(BadMessage):
        unpack_body(Body(encoding="json+zlib", size=said, parts=packed))
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_a_body_that_says_it_is_a_bomb_is_not_unpacked() -> None:
    with pytest.raises(BadMessage) as caught:
        unpack_body(Body(encoding="json+zlib", size=1 << 40, parts=bomb(1)))
    assert caught.value.reason == "too-large"


@pytest.mark.parametrize("parts", [(), (b"",), (b"x",), (zlib.compress(b"[1]") + b"tail",)])
def test_a_damaged_body_is_malformed(parts: tuple[bytes, ...]) -> None:
    with pytest.raises(BadMessage):
        unpack_body(Body(encoding="json+zlib", size=3, parts=parts[:1]))
    with pytest.raises(BadMessage):
        unpack_body(Body(encoding="json", size=3, parts=parts))
