"""``x509.private_key_managed``."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api import state
from saltern.modules.context import Context
from saltern.modules.states._programs import guarded, unused
from saltern.modules.states.file.answers import Refusal
from saltern.modules.states.x509.library import (
    WrongPassphrase,
    encoding_of,
    load_key,
    part,
    public_bytes,
)
from saltern.modules.states.x509.placing import placed, spot
from saltern.system import files

CURVES: dict[int, str] = {256: "SECP256R1", 384: "SECP384R1", 521: "SECP521R1"}
SIZES: dict[str, int] = {"rsa": 2048, "ec": 256, "ed25519": 256, "ed448": 456}
MEANINGLESS = frozenset({"cipher", "pkcs12_encryption_compat", "verbose", "managed_private_key"})


class Kind(Struct, frozen=True):
    """What a private key is like."""

    algo: str
    keysize: int


def kind_of(key: Any) -> Kind:
    for algo, name in (("rsa", "RSA"), ("ed25519", "Ed25519"), ("ed448", "Ed448")):
        if isinstance(key, getattr(part(algo), f"{name}PrivateKey")):
            return Kind(algo, key.key_size if algo == "rsa" else SIZES[algo])
    if isinstance(key, part("ec").EllipticCurvePrivateKey):
        return Kind("ec", key.curve.key_size)
    return Kind(type(key).__name__, 0)


def wanted_kind(algo: str, keysize: int | None) -> Kind:
    if algo not in SIZES:
        raise Refusal(f"no algo is called {algo!r}; these are: {', '.join(SIZES)}")
    size = keysize if keysize and algo in ("rsa", "ec") else SIZES[algo]
    if algo == "rsa" and not 2048 <= size <= 16384:
        raise Refusal(f"an RSA key needs a keysize from 2048 to 16384, not {size}")
    if algo == "ec" and size not in CURVES:
        raise Refusal(f"an EC key needs a keysize of {', '.join(map(str, CURVES))}, not {size}")
    return Kind(algo, size)


def generate(kind: Kind) -> Any:
    if kind.algo == "rsa":
        return part("rsa").generate_private_key(65537, kind.keysize)
    if kind.algo == "ec":
        ec = part("ec")
        return ec.generate_private_key(getattr(ec, CURVES[kind.keysize])())
    name = {"ed25519": "Ed25519PrivateKey", "ed448": "Ed448PrivateKey"}[kind.algo]
    return getattr(part(kind.algo), name).generate()


def encoded(key: Any, passphrase: str | None, encoding: str) -> bytes:
    serialization = part("serialization")
    lock = (
        serialization.BestAvailableEncryption(passphrase.encode())
        if passphrase
        else serialization.NoEncryption()
    )
    found: bytes = key.private_bytes(encoding_of(encoding), serialization.PrivateFormat.PKCS8, lock)
    return found


@state
def private_key_managed(
    ctx: Context,
    /,
    name: str,
    *,
    algo: str = "rsa",
    keysize: int | None = None,
    bits: int | None = None,
    passphrase: str | None = None,
    encoding: str = "pem",
    new: bool = False,
    overwrite: bool = False,
    **kwargs: object,
) -> Result:
    """A private key is there, of this kind; it is made if it is missing.

    Args:
        name: the absolute path of the file.
        algo: ``rsa``, ``ec``, ``ed25519`` or ``ed448``.
        keysize: 2048 and more for RSA, 256, 384 or 521 for EC. ``bits`` is its older name.
        bits: see ``keysize``.
        passphrase: what encrypts it.
        encoding: ``pem`` or ``der``.
        new: make a new one every time.
        overwrite: replace what cannot be read (no key, or another passphrase).
        user, group, mode, makedirs, dir_mode, backup: as in ``file.managed``; the mode is 0400 if not given.

    Example:
        ```yaml
        /etc/pki/www.key:
          x509.private_key_managed:
            - algo: ec
            - user: www-data
        ```
    """

    def work() -> Result:
        part("x509")
        wanted = wanted_kind(algo, keysize or bits)
        encoding_of(encoding)
        where = spot(name, kwargs, "0400")
        differs = _differences(where.path, wanted, passphrase, encoding, new, overwrite)
        result = placed(
            ctx,
            where,
            differs,
            lambda: encoded(generate(wanted), passphrase, encoding),
            lambda data: _facts(data, passphrase),
            what="private key",
        )
        return _with(result, unused(where.rest, MEANINGLESS))

    return guarded(work, path=name)


def _with(result: Result, warnings: tuple[str, ...]) -> Result:
    from msgspec.structs import replace

    return replace(result, warnings=warnings) if warnings else result


def _differences(
    path: str, wanted: Kind, passphrase: str | None, encoding: str, new: bool, overwrite: bool
) -> dict[str, object]:
    data = files.read(path)
    if data is None:
        return {"created": path}
    changes: dict[str, object] = {}
    try:
        key = load_key(data, passphrase, path)
    except WrongPassphrase:
        key = _unlocked(data, path)
        if key is None and not overwrite:
            raise Refusal(f"{path} has another passphrase; say overwrite: True to replace the key") from None
        changes["passphrase"] = "changed"
    except Refusal:
        if not overwrite:
            raise Refusal(f"{path} is no private key; say overwrite: True to replace it") from None
        return {"replaced": path}
    if key is not None:
        found = kind_of(key)
        for field in ("algo", "keysize"):
            if getattr(found, field) != getattr(wanted, field):
                changes[field] = {"old": getattr(found, field), "new": getattr(wanted, field)}
    if (b"-----BEGIN" in data) != (encoding == "pem"):
        changes["encoding"] = encoding
    if new or changes:
        changes = {"replaced": path, **changes}
    return changes


def _unlocked(data: bytes, path: str) -> Any:
    """The key if it has no passphrase, though one is wanted."""
    try:
        return load_key(data, None, path)
    except Refusal:
        return None


def _facts(data: bytes | None, passphrase: str | None) -> dict[str, object]:
    import hashlib

    if data is None:
        return {"algo": None, "keysize": None, "public_key_sha256": None}
    try:
        key = load_key(data, passphrase, "the key")
    except Refusal:
        return {"algo": None, "keysize": None, "public_key_sha256": None}
    found = kind_of(key)
    public = hashlib.sha256(public_bytes(key.public_key())).hexdigest()
    return {"algo": found.algo, "keysize": found.keysize, "public_key_sha256": public}
