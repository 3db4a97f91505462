"""Revoked credentials. The list is in the account's JWT, so the broker has it in a moment.

It has room for about ten thousand: each is removed when the credential would have expired anyway.
"""

from __future__ import annotations

from collections.abc import Mapping

from saltern.fleet.identity.mint import LIFE
from saltern.fleet.identity.nkeys import Holder, public_text

MAX_REVOKED = 9000  # about 90 bytes each; the broker takes a JWT of 1 MB

Revocations = Mapping[str, int]


class TooManyRevoked(Exception):
    """The list is full; a new signing key for agents ends all old credentials at once."""


def revoke(revoked: Revocations, key: bytes, now: float) -> dict[str, int]:
    """The list with one more entry: every credential of that key made until now."""
    return _check_size({**prune(revoked, now), public_text(key, Holder.USER): int(now)})


def restore(revoked: Revocations, key: bytes, now: float) -> dict[str, int]:
    """The list without that key."""
    name = public_text(key, Holder.USER)
    return {one: at for one, at in prune(revoked, now).items() if one != name}


def prune(revoked: Revocations, now: float, life: float = LIFE) -> dict[str, int]:
    """The list without entries whose credentials have expired by now."""
    return {name: at for name, at in revoked.items() if at + life > now}


def _check_size(revoked: dict[str, int]) -> dict[str, int]:
    if len(revoked) > MAX_REVOKED:
        raise TooManyRevoked(f"{len(revoked)} credentials are revoked, and there is room for {MAX_REVOKED}")
    return revoked
