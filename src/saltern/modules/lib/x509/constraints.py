"""Extensions that limit the use of a certificate: policies, name constraints, key usage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509.general_names import general_name, general_name_of, identifier
from saltern.modules.lib.x509.library import part
from saltern.modules.lib.x509.values import (
    CRITICAL,
    Given,
    as_list,
    flag,
    items,
    mapping,
    number,
    words,
)

USAGES: dict[str, str] = {
    "digitalSignature": "digital_signature",
    "nonRepudiation": "content_commitment",
    "contentCommitment": "content_commitment",
    "keyEncipherment": "key_encipherment",
    "dataEncipherment": "data_encipherment",
    "keyAgreement": "key_agreement",
    "keyCertSign": "key_cert_sign",
    "cRLSign": "crl_sign",
    "encipherOnly": "encipher_only",
    "decipherOnly": "decipher_only",
}
PURPOSES: dict[str, str] = {
    "serverAuth": "1.3.6.1.5.5.7.3.1",
    "clientAuth": "1.3.6.1.5.5.7.3.2",
    "codeSigning": "1.3.6.1.5.5.7.3.3",
    "emailProtection": "1.3.6.1.5.5.7.3.4",
    "timeStamping": "1.3.6.1.5.5.7.3.8",
    "OCSPSigning": "1.3.6.1.5.5.7.3.9",
    "ipsecIKE": "1.3.6.1.5.5.7.3.17",
    "pkInitKDC": "1.3.6.1.5.2.3.5",
    "msSmartcardLogin": "1.3.6.1.4.1.311.20.2.2",
    "msCodeInd": "1.3.6.1.4.1.311.2.1.21",
    "msCodeCom": "1.3.6.1.4.1.311.2.1.22",
    "msCTLSign": "1.3.6.1.4.1.311.10.3.1",
    "msEFS": "1.3.6.1.4.1.311.10.3.4",
}


def basic_constraints(given: Given) -> tuple[bool, Any]:
    critical, options = mapping(given)
    if "ca" not in options:
        raise Refused(f"{given.name} must say CA:TRUE or CA:FALSE")
    length = options.get("pathlen")
    try:
        return critical, part("x509").BasicConstraints(
            ca=flag(options["ca"]), path_length=None if length is None else number(given, length)
        )
    except ValueError as problem:
        raise Refused(f"{given.name} is invalid: {problem}") from None


def key_usage(given: Given) -> tuple[bool, Any]:
    flags = dict.fromkeys(USAGES.values(), False)
    critical, found = words(given)
    for word in found:
        if word not in USAGES:
            raise Refused(f"no keyUsage is called {word!r}; use one of {', '.join(USAGES)}")
        flags[USAGES[word]] = True
    try:
        return critical, part("x509").KeyUsage(**flags)
    except ValueError as problem:
        raise Refused(f"{given.name} is invalid: {problem}") from None


def extended_key_usage(given: Given) -> tuple[bool, Any]:
    critical, found = words(given)
    if unknown := [word for word in found if word not in PURPOSES and not word.replace(".", "").isdecimal()]:
        raise Refused(f"no extendedKeyUsage is called {unknown[0]!r}; use one of {', '.join(PURPOSES)}")
    return critical, part("x509").ExtendedKeyUsage([identifier(PURPOSES.get(word, word)) for word in found])


def certificate_policies(given: Given) -> tuple[bool, Any]:
    x509 = part("x509")
    if isinstance(given.value, Mapping):
        critical = flag(given.value.get(CRITICAL))
        rows = [(k, as_list(v)) for k, v in given.value.items() if k != CRITICAL]
    else:
        critical, found = words(given)
        rows = [(word, []) for word in found]
    policies = [
        x509.PolicyInformation(identifier(policy), [_qualifier(one) for one in notes] or None)
        for policy, notes in rows
    ]
    return critical, x509.CertificatePolicies(policies)


def _qualifier(given: object) -> Any:
    """The URL of a practice statement, or a notice for the user."""
    x509 = part("x509")
    if not isinstance(given, Mapping):
        return str(given)
    numbers = [int(one) for one in as_list(given.get("noticeNumbers"))]
    organization = given.get("organization")
    notice = x509.NoticeReference(str(organization or ""), numbers) if numbers else None
    return x509.UserNotice(notice, given.get("text"))


def policy_constraints(given: Given) -> tuple[bool, Any]:
    critical, found = mapping(given)

    def limit(word: str) -> int | None:
        return number(given, found[word]) if word in found else None

    try:
        return critical, part("x509").PolicyConstraints(
            limit("requireexplicitpolicy"), limit("inhibitpolicymapping")
        )
    except ValueError as problem:
        raise Refused(f"{given.name} is invalid: {problem}") from None


def inhibit_any_policy(given: Given) -> tuple[bool, Any]:
    critical, found = mapping(given)
    value = found["value"] if "value" in found else next(iter(found), None)
    return critical, part("x509").InhibitAnyPolicy(number(given, value))


def name_constraints(given: Given) -> tuple[bool, Any]:
    value = given.value
    trees: dict[str, list[Any]] = {"permitted": [], "excluded": []}
    if isinstance(value, Mapping):
        critical = flag(value.get(CRITICAL))
        for scope, names in value.items():
            if scope != CRITICAL:
                _tree(given, trees, str(scope)).extend(_constraint(one) for one in as_list(names))
    else:
        critical, pairs = items(given)
        for scoped, name in pairs:
            scope, _, kind = scoped.partition(";")
            _tree(given, trees, scope).append(general_name(kind, name))
    if not any(trees.values()):
        raise Refused(f"{given.name} needs names that are permitted or excluded")
    return critical, part("x509").NameConstraints(trees["permitted"] or None, trees["excluded"] or None)


def _tree(given: Given, trees: dict[str, list[Any]], scope: str) -> list[Any]:
    if scope.strip() not in trees:
        raise Refused(f"{given.name} needs permitted or excluded, not {scope.strip()!r}")
    return trees[scope.strip()]


def _constraint(one: object) -> Any:
    if isinstance(one, Mapping):
        kind, name = next(iter(one.items()))
        return general_name(str(kind), name)
    if isinstance(one, list | tuple):
        return general_name(str(one[0]), one[1])
    return general_name_of(one)


def no_check(given: Given) -> tuple[bool, Any]:
    return CRITICAL in str(given.value), part("x509").OCSPNoCheck()


def tls_feature(given: Given) -> tuple[bool, Any]:
    x509 = part("x509")
    critical, found = words(given)
    known = {one.name: one for one in x509.TLSFeatureType}
    if unknown := [word for word in found if word not in known]:
        raise Refused(f"no TLS feature is called {unknown[0]!r}; use one of {', '.join(known)}")
    return critical, x509.TLSFeature([known[word] for word in found])
