"""Masks secrets and passwords in texts that are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")
MASK = "***"

# After the name of a user, up to the last @: a password may hold an @ and, by mistake, a slash. What follows
# the colon is a port, and no password, if it is a number before the end of the host. A user whose name holds
# an @ may also be a host (ssh://git@host:path@tag), so there a slash ends the password.
PASSWORD = r"(?<=://)(?:([^\s/:@'\"\[]*):(?!\d+[/?#])\S*(?=@)|([^\s/:'\"\[]*):(?!\d+[/?#])[^\s/]*(?=@))"
TOKEN = r"(?i)(?<=http://|ttps://)[^\s/:?#]+(?=@)"  # a name alone may be a token


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
