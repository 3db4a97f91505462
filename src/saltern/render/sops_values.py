"""The values of a sops file: which are encrypted, what they hold, and the MAC over all of them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from hashlib import sha512
from hmac import compare_digest

from msgspec import Struct, field

_VALUE = re.compile(r"ENC\[AES256_GCM,data:([^,]*),iv:([^,]+),tag:([^,]+),type:(\w+)\]")
# What a MAC over encrypted values alone begins with, by the format.
ONLY_ENCRYPTED = bytes.fromhex("8a3fd2ad54ce66527b1034f3d147be0b0b975b3bf44f72c6fdadec8176f27d69")
_FLAT = re.compile(r"__(map|list)_")


class Damaged(Exception):
    """A value, or the MAC, is not what was encrypted; ``text`` is what the file has there."""

    def __init__(self, why: str, text: str) -> None:
        super().__init__(why)
        self.text = text


class Sealed(Struct, frozen=True):
    """The data of a file, and which of its values were encrypted."""

    data: object
    secret: list[object] = field(default_factory=list)


def opened(data: Mapping[str, object], about: Mapping[str, object], key: bytes) -> Sealed:
    """The data decrypted. Raises ``Damaged``."""
    walk = _Walk(about, key)
    made = walk.value(data, ())
    _check_mac(about, key, walk.mac.hexdigest().upper())
    return Sealed(made, walk.secret)


class _Walk:
    """Goes through the values in the order of the file, which the MAC depends on."""

    def __init__(self, about: Mapping[str, object], key: bytes) -> None:
        self._about = about
        self._key = key
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
        encrypted = is_encrypted(path, self._about)
        made = (
            decrypt(str(value), self._key, ":".join(path) + ":") if encrypted and value is not None else value
        )
        if encrypted and made not in ("", None) and not isinstance(made, bool):
            self.secret.append(made)
        if made is not None and (encrypted or not self._only):
            self.mac.update(as_bytes(made))
        return made


def is_encrypted(path: tuple[str, ...], about: Mapping[str, object]) -> bool:
    """Whether the value at this path is, by the settings of the file; the last that is set counts."""
    found = True
    if suffix := about.get("unencrypted_suffix"):
        found = not any(key.endswith(str(suffix)) for key in path)
    if suffix := about.get("encrypted_suffix"):
        found = any(key.endswith(str(suffix)) for key in path)
    if pattern := about.get("unencrypted_regex"):
        found = not any(re.search(str(pattern), key) for key in path)
    if pattern := about.get("encrypted_regex"):
        found = any(re.search(str(pattern), key) for key in path)
    return found


def decrypt(text: str, key: bytes, path: str) -> object:
    """One value; it is bound to its path. Raises ``Damaged``."""
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
    return _typed(plain, found[4])


def _typed(plain: bytes, kind: str) -> object:
    if kind == "bytes":
        return plain
    text = plain.decode()
    if kind in ("int", "float"):
        return int(text) if kind == "int" else float(text)
    return text.lower() in ("true", "1", "t") if kind == "bool" else text


def as_bytes(value: object) -> bytes:
    """A value as the MAC counts it."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, float):
        text = format(Decimal(repr(value)), "f")
        return (text.rstrip("0").rstrip(".") if "." in text else text).encode()
    return str(value).encode()  # True and False as Python writes them


def _check_mac(about: Mapping[str, object], key: bytes, found: str) -> None:
    given = str(about.get("mac") or "")
    kept = decrypt(given, key, _time(about.get("lastmodified"))) if given else ""
    if not compare_digest(str(kept), found):
        raise Damaged("its MAC is wrong: values were added, removed or changed without sops", given or "sops")


def _time(value: object) -> str:
    """RFC 3339, as sops writes it, also where YAML has read a time."""
    if hasattr(value, "strftime"):
        return str(value.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return str(value)


def flat_metadata(values: Mapping[str, object]) -> dict[str, object]:
    """``sops_age__list_0__map_enc`` and its kin of a dotenv file, as a tree."""
    tree: dict[str, object] = {}
    for name, value in values.items():
        parts = list(_steps(name.removeprefix("sops_")))
        where: dict[str, object] = tree
        for step in parts[:-1]:
            inner = where.setdefault(step, {})
            assert isinstance(inner, dict)
            where = inner
        where[parts[-1]] = value
    return {name: _listed(one) for name, one in tree.items()}


def _steps(name: str) -> Iterator[str]:
    """``a__list_0__map_b`` → ``a``, ``0``, ``b``."""
    return iter(part for part in _FLAT.split(name) if part not in ("map", "list"))


def _listed(value: object) -> object:
    if not isinstance(value, dict):
        return value == "true" if value in ("true", "false") else value
    if value and all(key.isdigit() for key in value):
        return [_listed(value[key]) for key in sorted(value, key=int)]
    return {key: _listed(inner) for key, inner in value.items()}
