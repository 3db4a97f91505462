"""``x509``: facts about keys and certificates, and signing policies."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.file.errors import explain_errors
from saltern.modules.lib.x509 import load
from saltern.modules.lib.x509.certificate import common_name
from saltern.modules.lib.x509.keys import SIZED, kind_of
from saltern.modules.lib.x509.library import public_pem
from saltern.modules.lib.x509.material import is_path, material
from saltern.modules.lib.x509.signing_policies import policy_of
from saltern.modules.lib.x509.times import days_later


def _load(certificate: str) -> Any:
    with explain_errors("certificate"):
        return load.load_certificate(material(certificate, "certificate"), "certificate")


def _ends_within(ctx: Context, certificate: Any, days: int) -> bool:
    now = datetime.fromtimestamp(ctx.clock.now(), UTC)
    return bool(certificate.not_valid_after_utc <= days_later(now, days))


def _path_and_name(certificate: str, found: Any) -> dict[str, object]:
    named: dict[str, object] = {"path": certificate} if is_path(certificate) else {}
    common = common_name(found)
    return named if common is None else {**named, "cn": common}


@function
def expires(ctx: Context, certificate: str, days: int = 0) -> bool:
    """True if a certificate has expired, or expires within this many days.

    Example:
        ```console
        $ saltern call x509.expires /etc/pki/www.pem
        local:
            False
        ```
    """
    return _ends_within(ctx, _load(certificate), days)


@function
def expired(ctx: Context, certificate: str) -> dict[str, object]:
    """Whether a certificate has expired, with its path and common name.

    Example:
        ```console
        $ saltern call x509.expired /etc/pki/www.pem
        local:
            ----------
            cn:
                www.example.org
            expired:
                False
            path:
                /etc/pki/www.pem
        ```
    """
    found = _load(certificate)
    return {**_path_and_name(certificate, found), "expired": _ends_within(ctx, found, 0)}


@function
def will_expire(ctx: Context, certificate: str, days: int) -> dict[str, object]:
    """Whether a certificate expires within this many days, with its path and common name.

    Example:
        ```console
        $ saltern call x509.will_expire /etc/pki/www.pem days=30
        local:
            ----------
            check_days:
                30
            cn:
                www.example.org
            path:
                /etc/pki/www.pem
            will_expire:
                False
        ```
    """
    found = _load(certificate)
    named = _path_and_name(certificate, found)
    return {"check_days": days, **named, "will_expire": _ends_within(ctx, found, days)}


@function
def get_private_key_size(ctx: Context, private_key: str, passphrase: str | None = None) -> int | None:
    """The size of an RSA or EC private key, in bits; None for other keys, which have only one size.

    Example:
        ```console
        $ saltern call x509.get_private_key_size /etc/pki/www.key
        local:
            2048
        ```
    """
    with explain_errors("private_key"):
        data = material(private_key, "private_key")
        found = kind_of(load.load_key(data, passphrase, "private_key"))
    return found.keysize if found.algo in SIZED else None


@function
def get_public_key(ctx: Context, key: str, passphrase: str | None = None, asObj: object = None) -> str:
    """The public key of a certificate, a request, a private or a public key, as PEM.

    Example:
        ```console
        $ saltern call x509.get_public_key /etc/pki/www.key
        local:
            -----BEGIN PUBLIC KEY-----
        …
        ```
    """
    with explain_errors("key"):
        return public_pem(load.public_key_of(material(key, "key"), passphrase, "key"))


@function
def get_signing_policy(
    ctx: Context, signing_policy: str | None, ca_server: str | None = None
) -> dict[str, object]:
    """The values of a policy of ``x509_signing_policies``; empty if there is none with that name.

    Args:
        signing_policy: its name in the pillar or the configuration.
        ca_server: not supported.

    Example:
        ```console
        $ saltern call x509.get_signing_policy www
        ```
    """
    with explain_errors("signing_policy"):
        if not ca_server:
            return policy_of(ctx, signing_policy, missing_is_empty=True)
        return policy_of(ctx, signing_policy, ca_server)
