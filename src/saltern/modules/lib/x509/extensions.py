"""Extensions of certificates, requests and revocation lists; one row each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509 import constraints, distribution, identifiers, revocation_extensions
from saltern.modules.lib.x509.library import part
from saltern.modules.lib.x509.values import Given

Make = Callable[[Given], tuple[bool, Any]]
Made = dict[str, tuple[bool, Any]]

CERTIFICATE: dict[str, Make] = {
    "basicConstraints": constraints.basic_constraints,
    "keyUsage": constraints.key_usage,
    "extendedKeyUsage": constraints.extended_key_usage,
    "subjectKeyIdentifier": identifiers.subject_key,
    "authorityKeyIdentifier": identifiers.authority_key,
    "issuerAltName": identifiers.issuer_names,
    "authorityInfoAccess": identifiers.authority_access,
    "subjectAltName": identifiers.alternative_names,
    "crlDistributionPoints": distribution.crl_points,
    "certificatePolicies": constraints.certificate_policies,
    "policyConstraints": constraints.policy_constraints,
    "inhibitAnyPolicy": constraints.inhibit_any_policy,
    "nameConstraints": constraints.name_constraints,
    "noCheck": constraints.no_check,
    "tlsfeature": constraints.tls_feature,
}
REVOCATION_LIST: dict[str, Make] = {
    "authorityKeyIdentifier": identifiers.authority_key,
    "authorityInfoAccess": identifiers.authority_access,
    "cRLNumber": revocation_extensions.crl_number,
    "deltaCRLIndicator": revocation_extensions.delta_indicator,
    "freshestCRL": distribution.freshest_crl,
    "issuerAltName": identifiers.issuer_names,
    "issuingDistributionPoint": distribution.issuing_point,
}
ENTRY: dict[str, Make] = {
    "certificateIssuer": identifiers.certificate_issuer,
    "CRLReason": revocation_extensions.crl_reason,
    "invalidityDate": revocation_extensions.invalidity_date,
}
# Extensions that only the signer can set; they are ignored in a request.
OF_THE_SIGNER = frozenset(
    {"authorityInfoAccess", "authorityKeyIdentifier", "issuerAltName", "crlDistributionPoints"}
)
UNSUPPORTED = frozenset({"nsComment", "nsCertType"})
ALIASES: dict[str, str] = {
    "X509v3 Basic Constraints": "basicConstraints",
    "X509v3 Key Usage": "keyUsage",
    "X509v3 Extended Key Usage": "extendedKeyUsage",
    "X509v3 Subject Key Identifier": "subjectKeyIdentifier",
    "X509v3 Authority Key Identifier": "authorityKeyIdentifier",
    "X509v3 Issuer Alternative Name": "issuerAltName",
    "issuserAltName": "issuerAltName",
    "Authority Information Access": "authorityInfoAccess",
    "X509v3 Subject Alternative Name": "subjectAltName",
    "X509v3 CRL Distribution Points": "crlDistributionPoints",
    "X509v3 Issuing Distribution Point": "issuingDistributionPoint",
    "X509v3 Certificate Policies": "certificatePolicies",
    "X509v3 Policy Constraints": "policyConstraints",
    "X509v3 Inhibit Any Policy": "inhibitAnyPolicy",
    "X509v3 Name Constraints": "nameConstraints",
    "OCSP No Check": "noCheck",
    "TLS Feature": "tlsfeature",
    "Netscape Comment": "nsComment",
    "Netscape Certificate Type": "nsCertType",
    "X509v3 CRLNumber": "cRLNumber",
    "CRLNumber": "cRLNumber",
    "X509v3 Delta CRL Indicator": "deltaCRLIndicator",
    "x509v3 Freshest CRL": "freshestCRL",
}
OIDS: dict[str, str] = {
    "basicConstraints": "2.5.29.19",
    "keyUsage": "2.5.29.15",
    "extendedKeyUsage": "2.5.29.37",
    "subjectKeyIdentifier": "2.5.29.14",
    "authorityKeyIdentifier": "2.5.29.35",
    "issuerAltName": "2.5.29.18",
    "authorityInfoAccess": "1.3.6.1.5.5.7.1.1",
    "subjectAltName": "2.5.29.17",
    "crlDistributionPoints": "2.5.29.31",
    "issuingDistributionPoint": "2.5.29.28",
    "certificatePolicies": "2.5.29.32",
    "policyConstraints": "2.5.29.36",
    "inhibitAnyPolicy": "2.5.29.54",
    "nameConstraints": "2.5.29.30",
    "noCheck": "1.3.6.1.5.5.7.48.1.5",
    "tlsfeature": "1.3.6.1.5.5.7.1.24",
    "cRLNumber": "2.5.29.20",
    "deltaCRLIndicator": "2.5.29.27",
    "freshestCRL": "2.5.29.46",
    "certificateIssuer": "2.5.29.29",
    "CRLReason": "2.5.29.21",
    "invalidityDate": "2.5.29.24",
}
NAMES = {oid: name for name, oid in OIDS.items()}


def extensions(
    asked: Mapping[str, object],
    known: Mapping[str, Make],
    *,
    public_key: Any = None,
    signer: Any = None,
    signer_key: Any = None,
) -> Made:
    """The wanted extensions: ``{name: (critical, value)}``. Other keys are ignored."""
    if wrong := [name for name in asked if name in UNSUPPORTED and asked[name] is not None]:
        raise Refused(f"{wrong[0]} is not supported: it is obsolete, and nothing reads it")
    found: Made = {}
    for name, make in known.items():
        value = asked.get(name)
        if value is not None and value != "" and value != []:
            found[name] = make(
                Given(name=name, value=value, public_key=public_key, signer=signer, signer_key=signer_key)
            )
    return found


def copy_extensions(request: Any, over: Made) -> Made:
    """The extensions of a request, without those given otherwise and those that only the signer can set."""
    found: Made = {}
    for one in request.extensions:
        name = NAMES.get(one.oid.dotted_string)
        if name in CERTIFICATE and name not in OF_THE_SIGNER and name not in over:
            found[name] = (one.critical, one.value)
    return {**over, **found}


def differences(wanted: Made, found: Iterable[Any]) -> dict[str, list[str]]:
    """The extensions to add, change and remove."""
    here = {one.oid.dotted_string: (one.critical, one.value) for one in found}
    want = {value.oid.dotted_string: (critical, value) for critical, value in wanted.values()}
    reported = {
        "added": [_extension_name(oid) for oid in want if oid not in here],
        "changed": [_extension_name(oid) for oid in want if oid in here and here[oid] != want[oid]],
        "removed": [_extension_name(oid) for oid in here if oid not in want],
    }
    return reported if any(reported.values()) else {}


def _extension_name(oid: str) -> str:
    """The library's name of an extension, which Salt reports."""
    name = getattr(part("x509").ObjectIdentifier(oid), "_name", "")
    return name if name and name != "Unknown OID" else NAMES.get(oid, oid)


def add(builder: Any, made: Made) -> Any:
    for critical, value in made.values():
        builder = builder.add_extension(value, critical)
    return builder
