"""The contents of certificates, requests and revocation lists, in Salt's form."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from typing import Any

from saltern.modules.lib.x509.extensions import NAMES, OIDS
from saltern.modules.lib.x509.library import key_type, part, public_pem
from saltern.modules.lib.x509.names import ATTRIBUTES
from saltern.modules.lib.x509.times import FORM, pretty_hex, pretty_number

UNKNOWN = "Unknown OID"


def certificate(found: Any) -> dict[str, object]:
    public = found.public_key()
    kind = key_type(public)
    return {
        "version": found.version.value + 1,
        "key_size": public.key_size if kind in ("rsa", "ec") else None,
        "key_type": kind,
        "serial_number": pretty_number(found.serial_number),
        "fingerprints": {
            name: pretty_hex(found.fingerprint(getattr(part("hashes"), name.upper())()))
            for name in ("md5", "sha1", "sha256")
        },
        "subject": name(found.subject),
        "subject_hash": name_hash(found.subject),
        "subject_str": found.subject.rfc4514_string(),
        "issuer": name(found.issuer),
        "issuer_hash": name_hash(found.issuer),
        "issuer_str": found.issuer.rfc4514_string(),
        "not_before": found.not_valid_before_utc.strftime(FORM),
        "not_after": found.not_valid_after_utc.strftime(FORM),
        "public_key": public_pem(public),
        "extensions": extensions(found.extensions),
        "signature_algorithm": oid_name(found.signature_algorithm_oid),
    }


def request(found: Any) -> dict[str, object]:
    public = found.public_key()
    kind = key_type(public)
    return {
        "key_size": public.key_size if kind in ("rsa", "ec") else None,
        "key_type": kind,
        "subject": name(found.subject),
        "subject_hash": name_hash(found.subject),
        "subject_str": found.subject.rfc4514_string(),
        "public_key_hash": pretty_hex(part("x509").SubjectKeyIdentifier.from_public_key(public).digest),
        "extensions": extensions(found.extensions),
    }


def revocation_list(found: Any) -> dict[str, object]:
    return {
        "issuer": name(found.issuer),
        "last_update": found.last_update_utc.strftime(FORM),
        "next_update": found.next_update_utc.strftime(FORM),
        "revoked_certificates": {
            pretty_number(one.serial_number).replace(":", ""): {
                "revocation_date": one.revocation_date_utc.strftime(FORM),
                "extensions": extensions(one.extensions),
            }
            for one in found
        },
        "extensions": extensions(found.extensions),
        "signature_algorithm": oid_name(found.signature_algorithm_oid),
    }


def name(found: Any) -> dict[str, str]:
    oids = part("oid").NameOID
    rows = {key: found.get_attributes_for_oid(getattr(oids, word)) for key, word in ATTRIBUTES.items()}
    return {key: str(values[0].value) for key, values in rows.items() if values}


def name_hash(found: Any) -> str:
    """The hash of a name that OpenSSL's older tools use for file names."""
    head = hashlib.sha1(found.public_bytes(), usedforsecurity=False).digest()[:4]
    return pretty_hex(head[::-1] if sys.byteorder == "little" else head)


def oid_name(oid: Any) -> str:
    word = getattr(oid, "_name", UNKNOWN)
    return str(oid.dotted_string if word == UNKNOWN else word)


# -- extensions ----------------------------------------------------------------------------------------


def extensions(found: Any) -> dict[str, object]:
    named = {NAMES.get(one.oid.dotted_string, one.oid.dotted_string): one for one in found}
    order = [*(word for word in OIDS if word in named), *(word for word in named if word not in OIDS)]
    return {word: _extension(named[word]) for word in order if word in OIDS}


def _extension(one: Any) -> dict[str, object]:
    describe = SHAPES.get(type(one.value).__name__)
    shape = describe(one.value) if describe else {"value": str(one.value)}
    return {"critical": one.critical, **shape}


def _general(found: Any) -> str:
    kind = type(found).__name__
    if kind == "DirectoryName":
        return f"dirName:{found.value.rfc4514_string()}"
    if kind == "IPAddress":
        return f"IP:{found.value.exploded}"
    if kind == "RegisteredID":
        return f"RID:{found.value.dotted_string}"
    prefixes = {"DNSName": "DNS", "RFC822Name": "mail", "UniformResourceIdentifier": "URI"}
    return f"{prefixes[kind]}:{found.value}" if kind in prefixes else str(found)


def _bare(found: Any) -> str:
    """The name without its kind, as in Salt."""
    return _general(found).partition(":")[2]


def _generals(found: Any) -> list[str]:
    return [_general(one) for one in found or ()]


def _key_usage(found: Any) -> dict[str, object]:
    agreed = found.key_agreement  # the library refuses to read the other two without it
    return {
        "cRLSign": found.crl_sign,
        "dataEncipherment": found.data_encipherment,
        "decipherOnly": found.decipher_only if agreed else False,
        "digitalSignature": found.digital_signature,
        "encipherOnly": found.encipher_only if agreed else False,
        "keyAgreement": agreed,
        "keyCertSign": found.key_cert_sign,
        "keyEncipherment": found.key_encipherment,
        "nonRepudiation": found.content_commitment,
    }


def _authority_key(found: Any) -> dict[str, object]:
    number = found.authority_cert_serial_number
    return {
        "keyid": pretty_hex(found.key_identifier) if found.key_identifier else None,
        "issuer": _generals(found.authority_cert_issuer) or None,
        "issuer_sn": pretty_number(number) if number else None,
    }


def _reasons(found: Any) -> list[str]:
    return sorted(one.value for one in found or ())


def _relative(found: Any) -> str | None:
    return found.rfc4514_string() if found else None


def _points(found: Any) -> dict[str, object]:
    return {
        "value": [
            {
                "crlissuer": _generals(one.crl_issuer),
                "fullname": _generals(one.full_name),
                "reasons": _reasons(one.reasons),
                "relativename": _relative(one.relative_name),
            }
            for one in found
        ]
    }


def _issuing_point(found: Any) -> dict[str, object]:
    return {
        "fullname": _generals(found.full_name),
        "onysomereasons": _reasons(found.only_some_reasons),  # spelled as Salt has it
        "relativename": _relative(found.relative_name),
        "onlyuser": found.only_contains_user_certs,
        "onlyCA": found.only_contains_ca_certs,
        "onlyAA": found.only_contains_attribute_certs,
        "indirectCRL": found.indirect_crl,
    }


def _policies(found: Any) -> dict[str, object]:
    return {
        "value": [
            {oid_name(one.policy_identifier): [_qualifier(note) for note in one.policy_qualifiers or ()]}
            for one in found
        ]
    }


def _qualifier(note: Any) -> dict[str, object]:
    if isinstance(note, str):
        return {"practice_statement": note}
    reference = note.notice_reference
    return {
        "organizataion": reference.organization if reference else None,  # spelled as Salt has it
        "notice_numbers": reference.notice_numbers if reference else None,
        "explicit_text": note.explicit_text,
    }


SHAPES: dict[str, Callable[[Any], dict[str, object]]] = {
    "BasicConstraints": lambda one: {"ca": one.ca, "pathlen": one.path_length},
    "KeyUsage": _key_usage,
    "ExtendedKeyUsage": lambda one: {"value": [oid_name(oid) for oid in one]},
    "SubjectKeyIdentifier": lambda one: {"value": pretty_hex(one.digest)},
    "AuthorityKeyIdentifier": _authority_key,
    "IssuerAlternativeName": lambda one: {"value": _generals(one)},
    "CertificateIssuer": lambda one: {"value": _generals(one)},
    "SubjectAlternativeName": lambda one: {"value": _generals(one)},
    "AuthorityInformationAccess": lambda one: {
        "value": [{oid_name(row.access_method): _bare(row.access_location)} for row in one]
    },
    "CRLDistributionPoints": _points,
    "FreshestCRL": _points,
    "IssuingDistributionPoint": _issuing_point,
    "CertificatePolicies": _policies,
    "PolicyConstraints": lambda one: {
        "inhibitPolicyMapping": one.inhibit_policy_mapping,
        "requireExplicitPolicy": one.require_explicit_policy,
    },
    "InhibitAnyPolicy": lambda one: {"value": one.skip_certs},
    "NameConstraints": lambda one: {
        "excluded": _generals(one.excluded_subtrees),
        "permitted": _generals(one.permitted_subtrees),
    },
    "OCSPNoCheck": lambda _: {"value": True},
    "TLSFeature": lambda one: {"value": [feature.name for feature in one]},
    "CRLNumber": lambda one: {"value": one.crl_number},
    "DeltaCRLIndicator": lambda one: {"value": one.crl_number},
    "CRLReason": lambda one: {"value": one.reason.value},
    "InvalidityDate": lambda one: {"value": one.invalidity_date.strftime(FORM)},
}
