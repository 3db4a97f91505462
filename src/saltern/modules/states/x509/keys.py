"""``x509.private_key_managed``."""

from __future__ import annotations

from typing import Any, Unpack

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509.encode import KEY_ENCODINGS, check_encoding, encode_key
from saltern.modules.lib.x509.keys import Kind, generate, kind_of, wanted_kind
from saltern.modules.lib.x509.library import part, public_bytes
from saltern.modules.lib.x509.load import (
    Key,
    NeedlessPassphrase,
    WrongPassphrase,
    load_key,
    open_key,
)
from saltern.modules.lib.x509.write import FORM_ONLY, FileArguments, spot, write_if_different

# A key that only differs in these is encoded again, never replaced.


class Found(Struct, frozen=True):
    """The existing key, if it can be read, and its differences."""

    key: Any
    changes: dict[str, object]

    @property
    def stays(self) -> bool:
        return self.key is not None and set(self.changes) <= FORM_ONLY


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
    pkcs12_encryption_compat: bool = False,
    **kwargs: Unpack[FileArguments],
) -> Result:
    """Make sure that a private key of this kind exists; create it if it is missing.

    A key that only has another encoding, or no passphrase yet, stays the same key and is encoded again.
    Its mode is 0400 if none is given.

    Args:
        name: the absolute path of the file.
        algo: ``rsa``, ``ec``, ``ed25519`` or ``ed448``.
        keysize: 2048 and more for RSA, 256, 384 or 521 for EC. ``bits`` is its older name.
        bits: see ``keysize``.
        passphrase: the passphrase to encrypt it with.
        encoding: ``pem``, ``der`` or ``pkcs12``.
        new: create a new key every time.
        overwrite: replace a file that cannot be read (not a key, or another passphrase).
        pkcs12_encryption_compat: use the weak PKCS#12 encryption that old systems need.

    Example:
        ```yaml
        /etc/pki/www.key:
          x509.private_key_managed:
            - algo: ec
            - user: www-data
        ```
    """
    ctx.facts = {"path": name}
    part("x509")
    wanted = wanted_kind(algo, keysize or bits)
    check_encoding(encoding, KEY_ENCODINGS)
    where = spot(name, kwargs, "0400")
    data = where.read()
    found = _compare_key(data, where.path, wanted, passphrase, encoding, new=new, overwrite=overwrite)

    def make() -> bytes:
        key = found.key if found.stays else generate(wanted)
        return encode_key(key, passphrase, encoding, compatible=pkcs12_encryption_compat)

    return write_if_different(
        ctx,
        where,
        found.changes,
        make,
        lambda held: _facts(held, passphrase),
        what="private key",
    )


def _compare_key(
    data: bytes | None,
    path: str,
    wanted: Kind,
    passphrase: str | None,
    encoding: str,
    *,
    new: bool,
    overwrite: bool,
) -> Found:
    if data is None:
        return Found(None, {"created": path})
    if new:
        return Found(None, {"replaced": path})
    try:
        held, changes = _open(data, passphrase, path)
    except Refused as problem:
        locked = isinstance(problem, WrongPassphrase)
        if not overwrite:
            why = "has another passphrase" if locked else "is not a private key"
            raise Refused(f"{path} {why}; set overwrite: True to replace it") from None
        return Found(None, {"replaced": path, **({"passphrase": True} if locked else {})})
    return Found(held.key, changes | _kind_changes(kind_of(held.key), wanted) | _encoding(held, encoding))


def _open(data: bytes, passphrase: str | None, path: str) -> tuple[Key, dict[str, object]]:
    """The key; opened without a passphrase if it does not have one yet."""
    try:
        return open_key(data, passphrase, path), {}
    except NeedlessPassphrase:
        return open_key(data, None, path), {"passphrase": True}


def _kind_changes(found: Kind, wanted: Kind) -> dict[str, object]:
    if found.algo != wanted.algo:
        return {"algo": wanted.algo}
    return {} if found.keysize == wanted.keysize else {"keysize": wanted.keysize}


def _encoding(held: Key, encoding: str) -> dict[str, object]:
    return {} if held.encoding == encoding else {"encoding": encoding}


def _facts(data: bytes | None, passphrase: str | None) -> dict[str, object]:
    import hashlib

    unknown: dict[str, object] = {"algo": None, "keysize": None, "public_key_sha256": None}
    if data is None:
        return unknown
    try:
        key = load_key(data, passphrase, "the key")
    except Refused:
        return unknown
    found = kind_of(key)
    public = hashlib.sha256(public_bytes(key.public_key())).hexdigest()
    return {"algo": found.algo, "keysize": found.keysize, "public_key_sha256": public}
