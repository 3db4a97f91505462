"""The values of a sops file: which are encrypted, their content, and the MAC over all."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from hashlib import sha512
from hmac import compare_digest

from msgspec import Struct, field

_VALUE = re.compile(r"ENC\[AES256_GCM,data:([^,]*),iv:([^,]+),tag:([^,]+),type:(\w+)\]")
# The prefix of a MAC over encrypted values only, by format.
ONLY_ENCRYPTED = bytes.fromhex("8a3fd2ad54ce66527b1034f3d147be0b0b975b3bf44f72c6fdadec8176f27d69")
_EXPONENT = re.compile(r"-?[1-9](\.\d+)?e[-+]\d\d+")  # how sops writes some floats; text in YAML 1.1
BY_COMMENTS = ("encrypted_comment_regex", "unencrypted_comment_regex")


class Damaged(Exception):
    """A value, or the MAC, was changed; ``text`` is what the file has there."""

    def __init__(self, why: str, text: str) -> None:
        super().__init__(why)
        self.text = text


class Sealed(Struct, frozen=True):
    """The data of a file, and which of its values were encrypted."""

    data: object
    secret: list[object] = field(default_factory=list)


def decrypt_all(data: Mapping[str, object], about: Mapping[str, object], key: bytes) -> Sealed:
    """The decrypted data. Raises ``Damaged``.

    Whether ``1e+10`` was a number or a text for sops is unknown here; the MAC fits only one of them.
    """
    for exponents in (False, True):
        walk = _Walk(about, key, exponents=exponents)
        made = walk.value(data, ())
        if compare_digest(_mac(about, key), walk.mac.hexdigest().upper()):
            return Sealed(made, walk.secret)
    where = str(about.get("mac") or "sops")
    raise Damaged("its MAC is wrong: values were added, removed or changed without sops", where)


def _mac(about: Mapping[str, object], key: bytes) -> str:
    """The MAC of the file; it is bound to the time of its last change."""
    given = str(about.get("mac") or "")
    return str(decrypt(given, key, _time(about.get("lastmodified")))) if given else ""


class _Walk:
    """Visits the values in file order, which the MAC depends on."""

    def __init__(self, about: Mapping[str, object], key: bytes, *, exponents: bool) -> None:
        self._about = about
        self._key = key
        self._exponents = exponents  # whether texts that look like floats are floats
        self._by_comments = any(about.get(name) for name in BY_COMMENTS)
        self._only = bool(about.get("mac_only_encrypted"))
        self.mac = sha512(ONLY_ENCRYPTED if self._only else b"")
        self.secret: list[object] = []

    def value(self, value: object, path: tuple[str, ...]) -> object:
        if isinstance(value, Mapping):
            copy = value.copy() if isinstance(value, dict) else dict(value)
            copy.update((key, self.value(inner, (*path, str(key)))) for key, inner in value.items())
            return copy
        if isinstance(value, list):
            return [self.value(inner, path) for inner in value]
        return self._leaf(value, path)

    def _leaf(self, value: object, path: tuple[str, ...]) -> object:
        # Comments are no longer here. A value whose form was changed does not pass the MAC.
        encrypted = is_sealed(value) if self._by_comments else is_encrypted(path, self._about)
        if encrypted and value is not None:
            made = decrypt(str(value), self._key, ":".join(path) + ":")
        else:
            made = self._plain(value)
        if encrypted and made not in ("", None) and not isinstance(made, bool):
            self.secret.append(made)
        if made is not None and (encrypted or not self._only):
            self.mac.update(as_bytes(made))
        return made

    def _plain(self, value: object) -> object:
        is_float = self._exponents and isinstance(value, str) and _EXPONENT.fullmatch(value)
        return float(str(value)) if is_float else value


def is_sealed(value: object) -> bool:
    return isinstance(value, str) and _VALUE.fullmatch(value) is not None


def is_encrypted(path: tuple[str, ...], about: Mapping[str, object]) -> bool:
    """True if the settings of the file encrypt the value at this path; the last setting counts."""
    found = True
    if suffix := about.get("unencrypted_suffix"):
        found = not any(key.endswith(str(suffix)) for key in path)
    if suffix := about.get("encrypted_suffix"):
        found = any(key.endswith(str(suffix)) for key in path)
    if pattern := about.get("unencrypted_regex"):
        found = not _any_fits(str(pattern), path)
    if pattern := about.get("encrypted_regex"):
        found = _any_fits(str(pattern), path)
    return found


def _any_fits(pattern: str, path: tuple[str, ...]) -> bool:
    try:
        return any(re.search(pattern, key) for key in path)
    except re.error as problem:
        raise Damaged(f"the expression {pattern!r} of its settings is wrong: {problem}", pattern) from None


def decrypt(text: str, key: bytes, path: str) -> object:
    """Decrypt one value, which is bound to its path. Raises ``Damaged``."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if text == "":
        return ""
    found = _VALUE.fullmatch(text)
    if found is None:
        raise Damaged(f"the value of {path.strip(':')!r} is not encrypted", text)
    try:
        data, nonce, tag = (base64.b64decode(part, validate=True) for part in found.groups()[:3])
        plain = AESGCM(key).decrypt(nonce, data + tag, path.encode())
    except (InvalidTag, ValueError, binascii.Error):
        raise Damaged(f"the value of {path.strip(':')!r} is damaged, or was moved", text) from None
    try:
        return TYPES[found[4]](plain)
    except (KeyError, ValueError):  # the type is not protected
        raise Damaged(f"the value of {path.strip(':')!r} is not of the named type", text) from None


def _bool(plain: bytes) -> bool:
    return plain.decode().lower() in ("true", "1", "t")


TYPES: Mapping[str, Callable[[bytes], object]] = {
    "str": bytes.decode,
    "int": int,
    "float": float,
    "bool": _bool,
    "bytes": bytes,
    "time": bytes.decode,
    "comment": bytes.decode,
}


def as_bytes(value: object) -> bytes:
    """A value as bytes for the MAC."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, float):
        text = format(Decimal(repr(value)), "f")
        return (text.rstrip("0").rstrip(".") if "." in text else text).encode()
    return str(value).encode()  # True and False as Python writes them


def _time(value: object) -> str:
    """A time in RFC 3339, as in sops, even if YAML has parsed it."""
    if hasattr(value, "strftime"):
        return str(value.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return str(value)
