"""Secrets in a journal: sealed while its run can be resumed, unreadable once it is over.

A resumed run needs the original arguments of its states, and the pillar may have changed by then.
So the journal has every secret sealed with a key of the run, in a file beside it. When the run ends,
the key is removed: what remains is as good as a mask. Reports always show masks.
"""

from __future__ import annotations

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from hashlib import sha256, shake_256
from hmac import compare_digest, digest

from saltern.journal.form import KEY, Record
from saltern.language import secrets
from saltern.language.secret_tokens import Look, fill_tokens, token
from saltern.system.atomic import sync_directory
from saltern.system.regular import open_regular, read_regular

SIZE, NONCE, TAG = 32, 16, 16


class Seal:
    """The key of one run. It is written before the first record that needs it."""

    def __init__(self, path: str) -> None:
        self._path = path + KEY
        self._key = b""
        self._kept = False

    def seal_body(self, body: object) -> object:
        """The same data with its secrets sealed; the same object if it has none."""
        return secrets.replace_all(body, self._token)

    def _token(self, text: str, kind: type) -> str:
        data = text.encode("utf-8", "surrogateescape")
        nonce, key = os.urandom(NONCE), self._found_or_new()
        hidden = nonce + _mix(data, key, nonce)
        return token(urlsafe_b64encode(_tag(key, hidden) + hidden).decode(), kind)

    def _found_or_new(self) -> bytes:
        if not self._key:
            self._key = read_key(self._path)
            self._kept = bool(self._key)
            self._key = self._key or os.urandom(SIZE)
        return self._key

    def keep(self, *, new: bool = False) -> None:
        """Make the key durable, if anything was or (``new``) will be sealed with it. Raises ``OSError``."""
        if new:
            self._found_or_new()
        if not self._key or self._kept:
            return
        file = open_regular(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(file, "wb") as out:
            out.write(self._key)
            out.flush()
            os.fsync(out.fileno())
        sync_directory(os.path.dirname(self._path))
        self._kept = True


def read_key(path: str) -> bytes:
    try:
        return read_regular(path)
    except FileNotFoundError:
        return b""


def mask_sealed(data: object) -> object:
    """The data with everything sealed masked."""
    return fill_tokens(data, lambda _: secrets.MASK)


def masked_records(records: Iterable[Record]) -> list[Record]:
    """The records with everything sealed masked."""
    return _each(records, lambda _: secrets.MASK)


class KeyLost(Exception):
    """Sealed data cannot be opened: the key is missing or wrong."""


def open_records(records: Iterable[Record], path: str) -> list[Record]:
    """The original records; what was sealed is a secret in this process. Raises ``KeyLost``."""
    key = read_key(path + KEY)
    return _each(records, lambda said: _open_text(said, key))


def opened_data(data: object, path: str) -> object:
    """Open data that was sealed with the key of the journal at ``path``. Raises ``KeyLost``."""
    key = read_key(path + KEY)
    return fill_tokens(data, lambda said: _open_text(said, key))


def _open_text(said: str, key: bytes) -> str | None:
    """The sealed text; None if it is not our seal but the user's own text."""
    try:
        whole = urlsafe_b64decode(said)
    except ValueError:
        return None
    tag, hidden = whole[:TAG], whole[TAG:]
    if len(hidden) < NONCE:
        return None
    if not key or not compare_digest(tag, _tag(key, hidden)):
        raise KeyLost
    text = _mix(hidden[NONCE:], key, hidden[:NONCE]).decode("utf-8", "surrogateescape")
    secrets.add(text)
    return text


def _each(records: Iterable[Record], look: Look) -> list[Record]:
    return [Record(one.seq, one.kind, fill_tokens(one.body, look)) for one in records]


def _mix(data: bytes, key: bytes, nonce: bytes) -> bytes:
    """Exclusive or with a stream from key and nonce; applied twice, it gives the data again."""
    stream = shake_256(key + nonce).digest(len(data))
    return bytes(one ^ other for one, other in zip(data, stream, strict=True))


def _tag(key: bytes, hidden: bytes) -> bytes:
    return digest(key, hidden, sha256)[:TAG]
