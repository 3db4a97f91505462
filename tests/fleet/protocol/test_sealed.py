"""A sealed box opens with one key and for one purpose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fleet.protocol.examples import FLEET, SEALING

from saltern.fleet.protocol.keys import SealingKey, SigningKey, fingerprint
from saltern.fleet.protocol.sealed import SealBroken, SealedFor, open_seal, seal

BOUND = SealedFor(fleet=FLEET, system="web1", purpose="pillar")
RECORDED = bytes.fromhex(
    "01e979222ecd261bb443001f08d278ebcccee46926a9f4f7a2e049042bd17a6849575f6202d62c17f618e817dc"
    "48985034e3700bff261f36407a891fbcd74e17e5b53f260658ce"
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
