"""Masks secrets and passwords in texts that are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")
MASK = "***"

# From the user name up to the last @: a password may contain an @ and, by mistake, a slash. A number after
# the colon, before the end of the host, is a port and not a password. A user name with an @ may also be a
# host (ssh://git@host:path@tag), so a slash ends the password there.
PASSWORD = r"(?<=://)(?:([^\s/:@'\"\[]*):(?!\d+[/?#])\S*(?=@)|([^\s/:'\"\[]*):(?!\d+[/?#])[^\s/]*(?=@))"
TOKEN = r"(?i)(?<=http://|ttps://)[^\s/:?#]+(?=@)"  # a user name without a password may be a token


def mask(value: T, secrets: Sequence[str | None] = ()) -> T:
    """The same text, list or mapping with ``***`` for these secrets and for every password in an address."""
    return _mask_value(value, [one for one in secrets if one])  # type: ignore[return-value]


def _mask_value(value: object, secrets: Sequence[str]) -> object:
    if isinstance(value, str):
        return _masked_text(value, secrets)
    if isinstance(value, Mapping):
        return {_mask_value(key, secrets): _mask_value(one, secrets) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_mask_value(one, secrets) for one in value)
    return value


def _masked_text(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, MASK)
    if "@" not in text or "://" not in text:
        return text
    import re

    text = re.sub(PASSWORD, lambda found: f"{found[1] or found[2] or ''}:{MASK}", text)
    return re.sub(TOKEN, MASK, text)
