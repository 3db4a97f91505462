"""``x509``: look at keys, requests and certificates. Needs the Python library ``cryptography``."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os
from datetime import UTC

from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.functions.file.told import told
from saltern.modules.params import BadArgument
from saltern.modules.states.x509 import library
from saltern.modules.states.x509.keys import encoded, generate, kind_of, wanted_kind
from saltern.system import files


@function
def read_certificate(ctx: Context, certificate: str) -> dict[str, object]:
    """What a certificate (a path or PEM text) says: names, serial number, times, fingerprint.

    Example:
        ```console
        $ saltern call x509.read_certificate /etc/pki/www.pem
        ```
    """
    from saltern.modules.states.x509 import issuing

    with told("certificate"):
        found = library.load_certificate(library.material(certificate, "certificate"), "certificate")
        return issuing.told(found)


@function
def read_csr(ctx: Context, csr: str) -> dict[str, object]:
    """The name in a certificate request.

    Example:
        ```console
        $ saltern call x509.read_csr /etc/pki/old.csr
        local:
            ----------
            subject:
                CN=www.example.org
        ```
    """
    with told("csr"):
        found = library.load_request(library.material(csr, "csr"), "csr")
    return {"subject": found.subject.rfc4514_string()}


@function
def expires(ctx: Context, certificate: str, days: int = 0) -> bool:
    """Whether a certificate is not valid any more, or will not be in so many days.

    Example:
        ```console
        $ saltern call x509.expires /etc/pki/www.pem
        local:
            False
        ```
    """
    from datetime import datetime, timedelta

    with told("certificate"):
        found = library.load_certificate(library.material(certificate, "certificate"), "certificate")
    now = datetime.fromtimestamp(ctx.clock.now(), UTC)
    return bool(found.not_valid_after_utc <= now + timedelta(days=days))


@function
def will_expire(ctx: Context, certificate: str, days: int) -> dict[str, object]:
    """Whether a certificate expires within so many days.

    Example:
        ```console
        $ saltern call x509.will_expire /etc/pki/www.pem days=30
        local:
            ----------
            check_days:
                30
            will_expire:
                False
        ```
    """
    return {"check_days": days, "will_expire": expires(ctx, certificate, days)}


@function
def get_private_key_size(ctx: Context, private_key: str, passphrase: str | None = None) -> int:
    """The size of a private key, in bits.

    Example:
        ```console
        $ saltern call x509.get_private_key_size /etc/pki/www.key
        local:
            2048
        ```
    """
    with told("private_key"):
        data = library.material(private_key, "private_key")
        return kind_of(library.load_key(data, passphrase, "private_key")).keysize


@function
def get_public_key(ctx: Context, key: str, passphrase: str | None = None) -> str:
    """The public key of a certificate, a request or a private key, as PEM.

    Example:
        ```console
        $ saltern call x509.get_public_key /etc/pki/www.key
        local:
            -----BEGIN PUBLIC KEY-----
        …
        ```
    """
    with told("key"):
        data = library.material(key, "key")
        if b"CERTIFICATE REQUEST-----" in data:
            public = library.load_request(data, "key").public_key()
        elif b"CERTIFICATE-----" in data:
            public = library.load_certificate(data, "key").public_key()
        else:
            public = library.load_key(data, passphrase, "key").public_key()
    forms = library.part("serialization")
    return str(public.public_bytes(forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo).decode())


@function
def verify_private_key(
    ctx: Context, private_key: str, public_key: str, passphrase: str | None = None
) -> bool:
    """Whether a private key belongs to a certificate, a request or another key.

    Example:
        ```console
        $ saltern call x509.verify_private_key /etc/pki/www.key /etc/pki/www.pem
        local:
            True
        ```
    """
    own = get_public_key(ctx, private_key, passphrase)
    return own == get_public_key(ctx, public_key)


@function
def create_private_key(
    ctx: Context,
    path: str | None = None,
    algo: str = "rsa",
    keysize: int | None = None,
    passphrase: str | None = None,
    encoding: str = "pem",
    overwrite: bool = False,
) -> str:
    """A new private key: written to ``path`` (which must be free), or returned as PEM text.

    Example:
        ```console
        $ saltern call x509.create_private_key /etc/pki/new.key algo=ec
        local:
            Private key written to /etc/pki/new.key
        ```
    """
    with told(path or "private key"):
        data = encoded(generate(wanted_kind(algo, keysize)), passphrase, encoding)
        if not path:
            return data.decode() if encoding == "pem" else data.hex()
        if os.path.exists(path) and not overwrite:
            raise BadArgument(f"{path} exists; say overwrite=True to replace it")
        files.write(path, data, files.Attributes(mode=0o400))
    return f"Private key written to {path}"


@function
def get_pem_entry(ctx: Context, text: str, pem_type: str | None = None) -> str:
    """The first PEM entry of a text, or of the file it names, tidy; of one kind if that is given.

    Example:
        ```console
        $ saltern call x509.get_pem_entry /etc/pki/www.pem
        local:
            -----BEGIN CERTIFICATE-----
        …
        ```
    """
    from saltern.modules.states.x509.pems import entries

    with told("text"):
        given = library.material(text, "text").decode(errors="replace") if os.path.isabs(text) else text
        found = [entry for kind, entry in entries(given) if pem_type in (None, kind)]
    if not found:
        raise BadArgument(f"the text holds no {pem_type}")
    return found[0]
