"""Secret inputs in the arguments of a job: a box for each system, which only that system opens."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from typing import Any

from msgspec import DecodeError, json

from saltern.fleet.protocol.keys import SealingKey
from saltern.fleet.protocol.seal import SealBroken, SealedFor, open_seal

SEALED, INPUTS = "__secret_inputs__", "pillar"  # arguments of a job; lists of jobs conceal the first


def bound_to(fleet: str, system: str) -> SealedFor:
    """What the box of a system is bound to."""
    return SealedFor(fleet=fleet, system=system, purpose="secret inputs")


def open_arguments(
    arguments: Mapping[str, Any], key: SealingKey | None, fleet: str, system: str
) -> dict[str, Any]:
    """The arguments with the secret inputs of this system among the others; ``SealBroken`` if it has none."""
    rest = {name: value for name, value in arguments.items() if name != SEALED}
    if SEALED not in arguments:
        return rest
    boxes = arguments[SEALED]
    box = boxes.get(system) if isinstance(boxes, Mapping) else None
    if key is None or not isinstance(box, str):
        raise SealBroken("there are no secret inputs for this system in the job")
    secrets = _read(open_seal(read_box(box), key, bound_to(fleet, system)))
    return {**rest, INPUTS: {**rest.get(INPUTS, {}), **secrets}}


def read_box(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (Error, ValueError):
        raise SealBroken("the sealed data is damaged") from None


def _read(data: bytes) -> dict[str, Any]:
    try:
        return json.decode(data, type=dict[str, Any])
    except DecodeError:
        raise SealBroken("the sealed data is not a mapping of inputs") from None
