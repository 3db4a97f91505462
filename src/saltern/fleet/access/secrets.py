"""Secrets of sessions and API tokens: ``sts_ID.SECRET`` and ``stt_ID.SECRET``, make them, and split them."""

from __future__ import annotations

import re
from secrets import token_hex, token_urlsafe

from saltern.fleet.store.credentials import SESSION, TOKEN

PREFIXES = {SESSION: "sts", TOKEN: "stt"}  # a prefix that scanners for leaked secrets can look for
_SECRET = re.compile(r"(sts|stt)_([0-9a-f]{16})\.([\w-]{43})")


def new_secret(kind: str) -> tuple[str, str, str]:
    """The id, the secret, and both as they are shown once."""
    id_, secret = token_hex(8), token_urlsafe(32)
    return id_, secret, f"{PREFIXES[kind]}_{id_}.{secret}"


def split_secret(text: str) -> tuple[str, str, str] | None:
    """Kind, id and secret; None if it is not a secret of saltern."""
    found = _SECRET.fullmatch(text)
    if found is None:
        return None
    kind = next(kind for kind, prefix in PREFIXES.items() if prefix == found[1])
    return kind, found[2], found[3]


def bearer(header: str) -> str:
    """The value after ``Bearer`` in the header ``Authorization``."""
    scheme, _, rest = header.strip().partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else ""
