"""Ids of systems and jobs, and their encoding as parts of a subject.

Letters, digits, ``-`` and ``_`` stay as they are; every other byte of the UTF-8 text becomes ``=XX``, and so
does a leading ``_``: names that begin with it (``_all``, ``_site``, ``_join-…``) are the protocol's own. So
no id can be a wildcard, contain a separator, or be confused with another one.
"""

from __future__ import annotations

import re
import secrets
import time
import unicodedata

MAX_ID = 255  # bytes of UTF-8, as long as a host name can be
_ODD = re.compile(rb"[^A-Za-z0-9_-]|\A_")
_SAFE = re.compile(r"[A-Za-z0-9-][A-Za-z0-9_-]*")
_TOKEN = re.compile(r"[A-Za-z0-9=-][A-Za-z0-9_=-]*")
_OWN = re.compile(r"_[a-z]+(-[A-Za-z0-9_=-]+)?")
_JID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,63}")


class BadId(ValueError):
    """The id cannot be used; its text says why."""


def check_id(name: str) -> None:
    """Raise ``BadId`` for an invalid id of a system."""
    if not name or name != name.strip():
        raise BadId(f"the id {name!r} is empty, or begins or ends with a space")
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise BadId("the id is not valid Unicode") from None
    if size > MAX_ID:
        raise BadId(f"the id is {size} bytes long, and may have {MAX_ID}")
    if bad := next((sign for sign in name if sign == "/" or unicodedata.category(sign)[0] == "C"), None):
        raise BadId(f"the id {name!r} has {bad!r} in it")


def encode_id(name: str) -> str:
    """The id of a system as one token of a subject."""
    check_id(name)
    return encode_token(name)


def encode_token(text: str) -> str:
    """Any text as one token of a subject; different texts give different tokens."""
    if _SAFE.fullmatch(text):
        return text
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise BadId("the text is not valid Unicode") from None
    if not data:
        raise BadId("an empty text cannot be a part of a subject")
    return _ODD.sub(_escape, data).decode("ascii")


def _escape(found: re.Match[bytes]) -> bytes:
    return b"=%02X" % found[0][0]


def decode_token(token: str) -> str:
    """The text of a token; ``BadId`` for text that ``encode_token`` never produces."""
    try:
        parts = token.split("=")
        data = parts[0].encode("ascii") + b"".join(
            bytes.fromhex(part[:2]) + part[2:].encode("ascii") for part in parts[1:]
        )
        text = data.decode()
        if encode_token(text) == token:
            return text
    except ValueError:
        pass
    raise BadId(f"{token!r} is not an encoded id")


def is_token(token: str) -> bool:
    """True for a token that may be used in a permission: no wildcard, no separator, no name of the
    protocol.
    """
    return _TOKEN.fullmatch(token) is not None


def is_own_name(token: str) -> bool:
    """True for a name of the protocol, which no system can have."""
    return _OWN.fullmatch(token) is not None


def new_jid(now: float) -> str:
    """A job's id: the time in UTC, which sorts, and enough random digits for many controllers."""
    micro = f"{int(now * 1_000_000) % 1_000_000:06d}"
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(now))}.{micro}-{secrets.token_hex(3)}"


def is_jid(text: str) -> bool:
    return _JID.fullmatch(text) is not None


def new_nonce() -> str:
    return secrets.token_urlsafe(12)
