"""Keys and certificates from arguments: a path, PEM text, hexadecimal digits, base64 or bytes."""

from __future__ import annotations

import base64
import binascii
import os

from saltern.modules.api.refused import Refused
from saltern.system import files

PEM = b"-----BEGIN"
DER = 0x30  # the first byte of every key, certificate, request, list and container in DER


def material(given: object, what: str) -> bytes:
    """The bytes of an argument. An earlier state may still create a missing file."""
    if isinstance(given, bytes):
        return given
    text = str(given)
    if PEM.decode() in text:
        return text.encode()
    if text.startswith("b64:"):
        return _base64(text[4:], what)
    if os.path.isabs(text):
        return _file(text, what)
    found = _decode_text(text)
    if found is None:
        raise Refused(
            f"{what} must be the absolute path of a file, or PEM text, hexadecimal digits or base64"
        )
    return found


def is_path(given: object) -> bool:
    """True if the argument is a path, not text."""
    return isinstance(given, str) and os.path.isabs(given) and PEM.decode() not in given


def _file(path: str, what: str) -> bytes:
    data = files.read(path)
    if data is None:
        raise Refused(f"{what} {path} does not exist", later=True)
    return data


def _base64(text: str, what: str) -> bytes:
    try:
        return base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
        raise Refused(f"{what} is not base64") from None


def _decode_text(text: str) -> bytes | None:
    """The bytes of hexadecimal digits or base64 with DER in it."""
    for read in (bytes.fromhex, base64.b64decode):
        try:
            found = read("".join(text.split()))
        except (binascii.Error, ValueError):
            continue
        if found[:1] == bytes([DER]):
            return found
    return None
