"""Revocation lists: the specification from arguments, the comparison with an existing one, and creation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509 import extensions as table
from saltern.modules.lib.x509.library import digest_change, part, same_key, signing_digest
from saltern.modules.lib.x509.load import load_certificate, load_key
from saltern.modules.lib.x509.material import material
from saltern.modules.lib.x509.times import days_later, moment, pretty_number, serial

DAYS_VALID = 100
ENTRY_WORDS = frozenset({"serial_number", "certificate", "revocation_date", "not_after", "extensions"})


class Entry(Struct, frozen=True):
    """A revoked certificate. ``when`` None: now."""

    serial: int
    when: datetime | None
    extensions: table.Made


class WantedList(Struct, frozen=True, kw_only=True):
    issuer: Any
    signer_key: Any
    digest: Any
    entries: tuple[Entry, ...]
    extensions: table.Made
    days_valid: int


def wanted_list(
    *,
    signing_private_key: object,
    revoked: object,
    now: datetime,
    signing_cert: object = None,
    passphrase: str | None = None,
    include_expired: bool = False,
    days_valid: int | None = None,
    digest: str = "sha256",
    extensions: Mapping[str, object] | None = None,
) -> WantedList:
    key = load_key(material(signing_private_key, "signing_private_key"), passphrase, "signing_private_key")
    if not signing_cert:
        raise Refused("signing_cert is missing: a revocation list names its issuer")
    ca = load_certificate(material(signing_cert, "signing_cert"), "signing_cert")
    if not same_key(ca.public_key(), key.public_key()):
        raise Refused("signing_cert and signing_private_key do not belong together")
    asked = {table.ALIASES.get(name, name): value for name, value in (extensions or {}).items()}
    if unknown := [name for name in asked if name not in table.REVOCATION_LIST]:
        raise Refused(
            f"no extension of a revocation list is called {unknown[0]!r}; "
            f"use one of {', '.join(table.REVOCATION_LIST)}"
        )
    entries = (_entry(row, now, include_expired) for row in _rows(revoked))
    return WantedList(
        issuer=ca.subject,
        signer_key=key,
        digest=signing_digest(key, digest),
        entries=tuple(one for one in entries if one is not None),
        extensions=table.extensions(asked, table.REVOCATION_LIST, signer=ca, signer_key=key.public_key()),
        days_valid=DAYS_VALID if days_valid is None else days_valid,
    )


def _rows(revoked: object) -> list[dict[str, object]]:
    """The rows of the list; they may be nested one level deeper, as in older states."""
    if not isinstance(revoked, Sequence) or isinstance(revoked, str):
        raise Refused("revoked must be a list; each entry needs serial_number or certificate")
    return [_row(one) for one in revoked]


def _row(one: object) -> dict[str, object]:
    if isinstance(one, Mapping) and len(one) == 1 and isinstance(next(iter(one.values())), list):
        one = {key: value for part_ in next(iter(one.values())) for key, value in part_.items()}
    if not isinstance(one, Mapping):
        raise Refused(f"revoked contains {one!r}; each entry needs serial_number or certificate")
    row = {str(key): value for key, value in one.items()}
    if "reason" in row:
        row["extensions"] = {**(row.get("extensions") or {}), "CRLReason": row.pop("reason")}
    if unknown := sorted(set(row) - ENTRY_WORDS):
        raise Refused(
            f"an entry of revoked has {unknown[0]!r}; it may have: {', '.join(sorted(ENTRY_WORDS))}"
        )
    return row


def _entry(row: Mapping[str, Any], now: datetime, include_expired: bool) -> Entry | None:
    number, end = serial(row.get("serial_number")), moment("not_after", row.get("not_after"))
    if row.get("certificate"):
        found = load_certificate(material(row["certificate"], "certificate"), "certificate")
        number, end = found.serial_number, found.not_valid_after_utc
    if not number:
        raise Refused("an entry of revoked needs serial_number or certificate")
    if end is not None and end < now and not include_expired:
        return None
    asked = dict(row.get("extensions") or {})
    if unknown := [name for name in asked if name not in table.ENTRY]:
        raise Refused(
            f"no extension of an entry is called {unknown[0]!r}; use one of {', '.join(table.ENTRY)}"
        )
    when = moment("revocation_date", row.get("revocation_date"))
    return Entry(number, when, table.extensions(asked, table.ENTRY))


# -- compared ------------------------------------------------------------------------------------------


def list_differences(found: Any, want: WantedList, now: datetime, remaining: int) -> dict[str, object]:
    changes = digest_change(found, want.digest)
    if remaining and found.next_update_utc < days_later(now, remaining):
        changes["expiration"] = True
    if found.issuer != want.issuer:
        changes["issuer_name"] = want.issuer.rfc4514_string()
    if not found.is_signature_valid(want.signer_key.public_key()):
        changes["public_key"] = True
    if entries := _entry_differences(found, want.entries):
        changes["revocations"] = entries
    if parts := table.differences(want.extensions, found.extensions):
        changes["extensions"] = parts
    return changes


def _entry_differences(found: Any, wanted: tuple[Entry, ...]) -> dict[str, list[str]]:
    here = {one.serial_number: one for one in found}
    want = {one.serial: one for one in wanted}
    reported = {
        "added": [pretty_number(one) for one in want if one not in here],
        "changed": [pretty_number(one) for one in want if one in here and _changed(here[one], want[one])],
        "removed": [pretty_number(one) for one in here if one not in want],
    }
    return reported if any(reported.values()) else {}


def _changed(here: Any, want: Entry) -> bool:
    moved = want.when is not None and here.revocation_date_utc != want.when
    return moved or bool(table.differences(want.extensions, here.extensions))


# -- made ----------------------------------------------------------------------------------------------


def made_list(want: WantedList, now: datetime, old: Any = None) -> Any:
    """The signed list. An entry without a date keeps its date in the ``old`` list."""
    x509 = part("x509")
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(want.issuer)
        .last_update(now)
        .next_update(days_later(now, want.days_valid))
    )
    dates = {} if old is None else {one.serial_number: one.revocation_date_utc for one in old}
    for entry in want.entries:
        when = entry.when or dates.get(entry.serial, now)
        row = x509.RevokedCertificateBuilder().serial_number(entry.serial).revocation_date(when)
        builder = builder.add_revoked_certificate(table.add(row, entry.extensions).build())
    return table.add(builder, want.extensions).sign(want.signer_key, want.digest)


def number_of(found: Any) -> int | None:
    """The ``cRLNumber`` of a list."""
    x509 = part("x509")
    try:
        return int(found.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number)
    except x509.ExtensionNotFound:
        return None
