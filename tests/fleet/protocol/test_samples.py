"""Messages as released versions wrote them stay readable; no recorded file is ever written anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import fields
from tests.fleet.protocol.examples import ENVELOPE, EXAMPLES, JID, NOW, TRUST

from saltern.fleet.protocol.codec import decode, encode
from saltern.fleet.protocol.envelope import verify
from saltern.fleet.protocol.message import Message
from saltern.fleet.protocol.messages import KINDS, MESSAGES, Job

SAMPLES = Path(__file__).parent / "samples"
FILES = sorted(SAMPLES.rglob("*.json"))


def keeps(old: Any, new: Any) -> bool:
    """True if all that ``old`` says is in ``new``."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(
            key in new and keeps(value, new[key]) for key, value in old.items()
        )
    return bool(old == new)


def shape_of(file: Path) -> type[Message]:
    return MESSAGES[file.stem].shape


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_a_recorded_message_is_read_with_all_it_says(file: Path) -> None:
    data = file.read_bytes()
    message = decode(shape_of(file), data)
    assert keeps(json.loads(data), json.loads(encode(message)))


def test_every_message_has_a_sample() -> None:
    assert {file.stem for file in FILES} == MESSAGES.keys()


@pytest.mark.parametrize("kind", MESSAGES)
def test_every_field_is_in_a_sample(kind: str) -> None:
    """A field that is added gets a sample of its own, in a new folder: `samples/2`, `samples/3`, …"""
    recorded = {name for file in FILES if file.stem == kind for name in json.loads(file.read_bytes())}
    assert {field.encode_name for field in fields(MESSAGES[kind].shape)} <= recorded


def test_every_message_has_an_example_with_no_field_left_out() -> None:
    assert {KINDS[type(example)] for example in EXAMPLES} == MESSAGES.keys()


@pytest.mark.parametrize("message", EXAMPLES, ids=lambda message: KINDS[type(message)])
def test_a_message_is_read_back_as_it_was(message: Message) -> None:
    assert decode(type(message), encode(message)) == message


def grown(value: Any) -> Any:
    """The same with fields of a later version in every mapping."""
    if isinstance(value, dict):
        return {
            "zz_later": [{"deep": None}],
            **{key: inner if key == "trees" else grown(inner) for key, inner in value.items()},
        }
    return [grown(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_fields_of_a_later_version_are_skipped(file: Path) -> None:
    shape = shape_of(file)
    plain = json.loads(file.read_bytes())
    later = {"zz_later": {"a": [1]}, **plain}
    assert decode(shape, json.dumps(later).encode()) == decode(shape, file.read_bytes())
    decode(shape, json.dumps(grown(plain)).encode())


def test_a_recorded_envelope_still_verifies() -> None:
    data = (SAMPLES / "1" / "envelope.json").read_bytes()
    verified = verify(data, TRUST, me="web1", now=NOW)
    assert verified.of(Job).jid == JID
    assert data == ENVELOPE  # Ed25519 is deterministic: the same claims are the same bytes
