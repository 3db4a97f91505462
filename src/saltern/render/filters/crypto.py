"""Filters that hash, encode, and generate random text."""

from __future__ import annotations

from typing import Any

from saltern.render.filters.convert import to_bytes

UUID_NAMESPACE = "91633ebf-1c86-5e33-935a-28061f4b480e"  # Salt's, so that names keep their UUIDs


def _digest(data: Any, algorithm: str) -> str:
    import hashlib

    return hashlib.new(algorithm, to_bytes(data), usedforsecurity=False).hexdigest()


def md5(instr: str | bytes) -> str:
    return _digest(instr, "md5")


def sha1(instr: str | bytes) -> str:
    return _digest(instr, "sha1")


def sha256(instr: str | bytes) -> str:
    return _digest(instr, "sha256")


def sha512(instr: str | bytes) -> str:
    return _digest(instr, "sha512")


def hmac_compute(string: str, shared_secret: str) -> str:
    """The HMAC (SHA-256) of the text, in hexadecimal."""
    return _hmac(string, shared_secret).hex()


def hmac_matches(string: str, shared_secret: str, challenge_hmac: str) -> bool:
    """The filter ``hmac``: True if ``challenge_hmac``, in base64, is the HMAC (SHA-256) of the text."""
    import base64
    import hmac

    return hmac.compare_digest(base64.b64encode(_hmac(string, shared_secret)), to_bytes(challenge_hmac))


def _hmac(string: str, shared_secret: str) -> bytes:
    import hmac

    return hmac.digest(to_bytes(shared_secret), to_bytes(string), "sha256")


def base64_encode(instr: str | bytes) -> str:
    import base64

    return base64.b64encode(to_bytes(instr)).decode("ascii")


def base64_decode(instr: str | bytes) -> str | bytes:
    """Text if the bytes are UTF-8, else the bytes."""
    import base64
    import binascii

    try:
        decoded = base64.b64decode(to_bytes(instr))
    except binascii.Error as problem:
        raise ValueError(f"this is not base64: {str(problem).lower()}") from None
    try:
        return decoded.decode("utf-8")
    except UnicodeDecodeError:
        return decoded


def random_hash(size: int = 9999999999, hash_type: str | None = None) -> str:
    """The hash of a random number from 0 to ``size``."""
    import secrets

    return _digest(str(secrets.randbelow(size + 1)), hash_type or "md5")


def random_str(size: int = 32) -> str:
    """Random letters, digits, ``+`` and ``/``."""
    import secrets
    import string

    letters = string.ascii_letters + string.digits + "+/"
    return "".join(secrets.choice(letters) for _ in range(size))


def uuid_of(val: str) -> str:
    """The filter ``uuid``: the UUID (version 5) of a name, the same as in Salt."""
    import uuid

    if not isinstance(val, str):
        raise TypeError(f"needs text, not {type(val).__name__}")
    return str(uuid.uuid5(uuid.UUID(UUID_NAMESPACE), val))


def file_hashsum(path: str, form: str = "sha256", chunk_size: int = 65536) -> str:
    """The hash of a file on this machine."""
    import hashlib

    if form not in hashlib.algorithms_available:
        raise ValueError(
            f"there is no hash {form!r}; known are {', '.join(sorted(hashlib.algorithms_guaranteed))}"
        )
    hasher = hashlib.new(form, usedforsecurity=False)
    with open(path, "rb") as file:
        while chunk := file.read(chunk_size):
            hasher.update(chunk)
    return hasher.hexdigest()
