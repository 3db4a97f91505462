"""``x509.crl_managed``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509.encode import OTHER_ENCODINGS, check_encoding, encode_other
from saltern.modules.lib.x509.load import encoding_of_text, load_list
from saltern.modules.lib.x509.revocation import (
    DAYS_VALID,
    WantedList,
    list_differences,
    made_list,
    number_of,
    wanted_list,
)
from saltern.modules.lib.x509.times import FORM
from saltern.modules.lib.x509.write import FileArguments, spot, write_if_different

REMAINING = 30
AUTO = "auto"
NUMBER = "cRLNumber"


@state
def crl_managed(
    ctx: Context,
    /,
    name: str,
    *,
    signing_private_key: str,
    revoked: object,
    days_remaining: int | None = None,
    signing_cert: str | None = None,
    signing_private_key_passphrase: str | None = None,
    include_expired: bool = False,
    days_valid: int | None = None,
    digest: str = "sha256",
    encoding: str = "pem",
    extensions: dict[str, object] | None = None,
    **kwargs: Unpack[FileArguments],
) -> Result:
    """Make sure that a certificate revocation list with these certificates exists and does not expire soon.

    A list that only has another encoding is encoded again, not replaced.

    Args:
        name: the absolute path of the file.
        signing_private_key: the key that signs, a path or PEM text.
        revoked: a list; each entry has ``serial_number`` or ``certificate``, and optionally
            ``revocation_date`` (``2026-01-31 12:00:00``; the time of its first listing if not given),
            ``not_after`` and ``extensions`` (``CRLReason``, ``invalidityDate``, ``certificateIssuer``).
        days_remaining: create a new list when the old one is valid for fewer days; 30, or a quarter of
            ``days_valid`` if that is less. 0: only when something changed.
        signing_cert: the certificate of the signer.
        signing_private_key_passphrase: the passphrase of that key.
        include_expired: also list expired certificates.
        days_valid: how many days the list is valid from now on; 100 if not given.
        digest: ``sha256``, ``sha384``, ``sha512`` …
        encoding: ``pem`` or ``der``.
        extensions: ``authorityKeyIdentifier``, ``authorityInfoAccess``, ``cRLNumber`` (``auto`` counts
            automatically), ``deltaCRLIndicator``, ``freshestCRL``, ``issuerAltName``,
            ``issuingDistributionPoint``.

    Example:
        ```yaml
        /etc/pki/ca.crl:
          x509.crl_managed:
            - signing_private_key: /etc/pki/ca.key
            - signing_cert: /etc/pki/ca.crt
            - revoked:
              - serial_number: D6:D2:DC:D8:4D:5C:C0:F4
                extensions:
                  CRLReason: keyCompromise
            - extensions:
                cRLNumber: auto
        ```
    """
    ctx.facts = {"path": name}
    ctx.foreseen = {"created": name}
    where = spot(name, kwargs)
    check_encoding(encoding, OTHER_ENCODINGS)
    now = datetime.fromtimestamp(ctx.clock.now(), UTC).replace(microsecond=0)
    asked = dict(extensions or {})

    def want(more: Mapping[str, object]) -> WantedList:
        return wanted_list(
            signing_private_key=signing_private_key,
            revoked=revoked,
            now=now,
            signing_cert=signing_cert,
            passphrase=signing_private_key_passphrase,
            include_expired=include_expired,
            days_valid=days_valid,
            digest=digest,
            extensions={**asked, **more},
        )

    data = where.read()
    old = _read(data, where.path)
    counted: dict[str, int] = {}
    if asked.get(NUMBER) == AUTO:
        counted = {NUMBER: (number_of(old) if old is not None else None) or 0}
    least = min(REMAINING, (days_valid or DAYS_VALID) // 4) if days_remaining is None else days_remaining
    changes = _changes(data, old, where.path, want(counted), now, least, encoding)

    def make() -> bytes:
        if old is not None and set(changes) <= {"encoding"}:
            return encode_other(old, encoding)
        following = {NUMBER: counted[NUMBER] + 1} if counted else {}
        return encode_other(made_list(want(following), now, old), encoding)

    return write_if_different(
        ctx,
        where,
        changes,
        make,
        _facts,
        what="certificate revocation list",
    )


def _read(data: bytes | None, path: str) -> Any:
    if data is None:
        return None
    try:
        return load_list(data, path)
    except Refused:
        return None


def _changes(
    data: bytes | None, old: Any, path: str, want: WantedList, now: datetime, least: int, encoding: str
) -> dict[str, object]:
    if data is None:
        return {"created": path}
    if old is None:
        return {"replaced": path}
    changes = list_differences(old, want, now, least)
    return changes if encoding_of_text(data) == encoding else {"encoding": encoding, **changes}


def _facts(data: bytes | None) -> dict[str, object]:
    found = _read(data, "the list")
    if found is None:
        return {"issuer": None, "next_update": None, "revoked": None, "number": None}
    return {
        "issuer": found.issuer.rfc4514_string(),
        "next_update": found.next_update_utc.strftime(FORM),
        "revoked": [f"{one.serial_number:x}" for one in found],
        "number": number_of(found),
    }
