"""A sealed box opens with one key and for one purpose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fleet.protocol.examples import FLEET, SEALING

from saltern.fleet.protocol.keys import SealingKey, SigningKey, fingerprint
from saltern.fleet.protocol.seal import SealBroken, SealedFor, open_seal, seal

BOUND = SealedFor(fleet=FLEET, system="web1", purpose="pillar")
RECORDED = bytes.fromhex(
    "01b3a5dd0aca2ab20cb93acd403062de25ce94831393bf310c5cb9d5e93d006f3b15764febf21e3406a5369a6d5d96e2"
    "ee60c84039fb9f3a9ce82b345838a7e67664e64ff7d79f81c0023aa3fde05566229266290148ac7e7c3e480959afb0b752e3a56f3eddfb"
)


@given(st.binary(max_size=2000))
def test_what_is_sealed_opens_and_cannot_be_read_on_the_way(data: bytes) -> None:
    box = seal(data, SEALING.public, BOUND)
    assert open_seal(box, SEALING, BOUND) == data
    assert len(data) < 8 or data not in box
    assert box != seal(data, SEALING.public, BOUND)


def test_a_box_of_the_first_version_stays_readable() -> None:
    assert open_seal(RECORDED, SEALING, BOUND) == b"db: {password: s3cret}"


def test_another_key_does_not_open_it() -> None:
    with pytest.raises(SealBroken):
        open_seal(RECORDED, SealingKey.new(), BOUND)


@pytest.mark.parametrize("change", [{"fleet": "other"}, {"system": "web2"}, {"purpose": "render"}])
def test_a_box_cannot_be_passed_off_as_another_one(change: dict[str, str]) -> None:
    with pytest.raises(SealBroken):
        open_seal(RECORDED, SEALING, replace(BOUND, **change))


@given(st.data())
def test_a_damaged_box_does_not_open(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(RECORDED) - 1))
    flip = data.draw(st.integers(1, 255))
    damaged = bytearray(RECORDED)
    damaged[place] ^= flip
    with pytest.raises(SealBroken):
        open_seal(bytes(damaged), SEALING, BOUND)
    with pytest.raises(SealBroken):
        open_seal(RECORDED[:place], SEALING, BOUND)


def test_a_key_that_is_no_key_is_refused() -> None:
    with pytest.raises(ValueError):
        seal(b"x", bytes(32), BOUND)
    with pytest.raises(ValueError):
        seal(b"x", b"short", BOUND)


def test_private_keys_do_not_print_themselves() -> None:
    for key in (SigningKey.new(), SealingKey.new()):
        assert key.seed.hex() not in repr(key) and repr(key.seed) not in repr(key)
        assert fingerprint(key.public) in repr(key)
