"""Read keys, certificates, requests and revocation lists, and detect their encoding."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509.library import part
from saltern.modules.lib.x509.material import PEM

ENTRY = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
LOCKED = re.compile(r"[Bb]ad decrypt|[Ii]ncorrect password|[Ii]nvalid password")


class WrongPassphrase(Refused):
    """The passphrase does not open the key."""


class NoPassphrase(WrongPassphrase):
    """The key is encrypted, and no passphrase was given."""


class NeedlessPassphrase(WrongPassphrase):
    """A passphrase was given, but the key is not encrypted."""


class Key(Struct, frozen=True):
    key: Any
    encoding: str


class Certificate(Struct, frozen=True):
    """A certificate, the certificates that follow it, and its name in a PKCS#12 container."""

    certificate: Any
    encoding: str
    chain: tuple[Any, ...] = ()
    friendly_name: bytes | None = None


# -- private keys --------------------------------------------------------------------------------------


def load_key(data: bytes, passphrase: str | None, what: str) -> Any:
    """A private key. Neither it nor its passphrase is ever part of a message."""
    return open_key(data, passphrase, what).key


def open_key(data: bytes, passphrase: str | None, what: str) -> Key:
    secret = passphrase.encode() if passphrase else None
    serialization = part("serialization")
    if PEM in data:
        return Key(_unlock(serialization.load_pem_private_key, data, secret, what), "pem")
    container = _container(data, secret, what)
    if container is not None:
        if container.key is None:
            raise Refused(f"{what} is a PKCS#12 container without a private key")
        return Key(container.key, "pkcs12")
    return Key(_unlock(serialization.load_der_private_key, data, secret, what), "der")


def _unlock(load: Callable[..., Any], data: bytes, secret: bytes | None, what: str) -> Any:
    try:
        return load(data, secret)
    except TypeError:
        if secret:
            raise NeedlessPassphrase(f"{what} does not need a passphrase") from None
        raise NoPassphrase(f"{what} needs a passphrase") from None
    except Exception as problem:  # ValueError, or the library's exception for unsupported features
        if secret and LOCKED.search(str(problem)):
            raise WrongPassphrase(f"{what} cannot be opened: the passphrase is wrong") from None
        raise Refused(f"{what} cannot be read; it is not a private key") from None


def _container(data: bytes, secret: bytes | None, what: str) -> Any:
    """The PKCS#12 container, or None if the data is not one."""
    load = part("pkcs12").load_pkcs12
    try:
        return load(data, secret)
    except TypeError:
        raise NoPassphrase(f"{what} needs a passphrase") from None
    except ValueError as problem:
        if not LOCKED.search(str(problem)):
            return None
    if secret:
        try:
            load(data, None)
        except (TypeError, ValueError):
            raise WrongPassphrase(f"{what} cannot be opened: the passphrase is wrong") from None
        raise NeedlessPassphrase(f"{what} does not need a passphrase")
    raise NoPassphrase(f"{what} needs a passphrase")


# -- certificates --------------------------------------------------------------------------------------


def load_certificate(data: bytes, what: str, passphrase: str | None = None) -> Any:
    return open_certificate(data, what, passphrase).certificate


def open_certificate(data: bytes, what: str, passphrase: str | None = None) -> Certificate:
    """The first certificate of a file, and those that follow it."""
    found = _from_pem(data) if PEM in data else _from_binary(data, what, passphrase)
    if found is None:
        raise Refused(f"{what} cannot be read; it is not a certificate")
    return found


def _from_pem(data: bytes) -> Certificate | None:
    x509 = part("x509")
    entries = [match[0] for match in ENTRY.finditer(data)]
    if any(b"BEGIN PKCS7" in entry for entry in entries[:1]):
        return _bundle(part("pkcs7").load_pem_pkcs7_certificates, entries[0], "pkcs7_pem")
    held = [entry for entry in entries if b"CERTIFICATE-----" in entry[:40]]
    try:
        loaded = [x509.load_pem_x509_certificate(entry) for entry in held]
    except ValueError:
        return None
    return Certificate(loaded[0], "pem", tuple(loaded[1:])) if loaded else None


def _from_binary(data: bytes, what: str, passphrase: str | None) -> Certificate | None:
    try:
        return Certificate(part("x509").load_der_x509_certificate(data), "der")
    except ValueError:
        pass
    container = _container(data, passphrase.encode() if passphrase else None, what)
    if container is not None and container.cert is not None:
        chain = tuple(one.certificate for one in container.additional_certs)
        return Certificate(container.cert.certificate, "pkcs12", chain, container.cert.friendly_name)
    return _bundle(part("pkcs7").load_der_pkcs7_certificates, data, "pkcs7_der")


def _bundle(load: Callable[[bytes], list[Any]], data: bytes, encoding: str) -> Certificate | None:
    try:
        first, *others = load(data)
    except Exception:  # ValueError, or the library's exception for unsupported features
        return None
    return Certificate(first, encoding, tuple(others))


# -- requests, lists, public keys ----------------------------------------------------------------------


def load_request(data: bytes, what: str) -> Any:
    return _either(data, what, "x509_csr", "certificate request")


def load_list(data: bytes, what: str) -> Any:
    return _either(data, what, "x509_crl", "certificate revocation list")


def _either(data: bytes, what: str, kind: str, called: str) -> Any:
    load = getattr(part("x509"), f"load_{'pem' if PEM in data else 'der'}_{kind}")
    try:
        return load(data)
    except Exception:  # ValueError, or the library's exception for versions of old programs
        raise Refused(f"{what} cannot be read; it is not a {called}") from None


def load_public(data: bytes, what: str) -> Any:
    serialization = part("serialization")
    load = serialization.load_pem_public_key if PEM in data else serialization.load_der_public_key
    try:
        return load(data)
    except Exception:  # ValueError, or the library's exception for unsupported features
        raise Refused(f"{what} cannot be read; it is not a public key") from None


def encoding_of_text(data: bytes) -> str:
    """The encoding, ``pem`` or ``der``, of data that has no others."""
    return "pem" if PEM in data else "der"


def public_key_of(data: bytes, passphrase: str | None, what: str) -> Any:
    """The public key of a public key, a certificate, a private key or a request."""
    problem: Refused | None = None
    ways: tuple[Callable[[], Any], ...] = (
        lambda: load_public(data, what),
        lambda: load_certificate(data, what, passphrase).public_key(),
        lambda: load_key(data, passphrase, what).public_key(),
        lambda: load_request(data, what).public_key(),
    )
    for load in ways:
        try:
            return load()
        except WrongPassphrase as locked:
            problem = locked
        except Refused:
            continue
    raise problem or Refused(f"{what} is not a certificate, public key, private key or certificate request")
