"""Extensions that identify keys and issuers: key identifiers, alternative names, access points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509.general_names import general_name_of, general_names, identifier
from saltern.modules.lib.x509.library import part
from saltern.modules.lib.x509.values import CRITICAL, Given, as_list, items, mapping

ALWAYS = "always"
ACCESS: dict[str, str] = {
    "ocsp": "1.3.6.1.5.5.7.48.1",
    "caissuers": "1.3.6.1.5.5.7.48.2",
    "carepository": "1.3.6.1.5.5.7.48.5",
}


def subject_key(given: Given) -> tuple[bool, Any]:
    x509 = part("x509")
    if isinstance(given.value, bytes):
        return False, x509.SubjectKeyIdentifier(given.value)
    critical, pairs = items(given)
    if critical:
        raise Refused(f"{given.name} cannot be critical")
    text = str(given.value).strip()
    if text == "hash" or (pairs and pairs[0][0] == "hash"):
        return False, x509.SubjectKeyIdentifier.from_public_key(given.public_key)
    try:
        return False, x509.SubjectKeyIdentifier(bytes.fromhex(text.replace(":", "")))
    except ValueError:
        raise Refused(f"{given.name} must be 'hash' or hexadecimal digits") from None


def authority_key(given: Given) -> tuple[bool, Any]:
    """``keyid`` and ``issuer``, each optionally with ``always``; the issuer is added if there is no key
    ID.
    """
    critical, wanted = mapping(given)
    if critical:
        raise Refused(f"{given.name} cannot be critical")
    if unknown := set(wanted) - {"keyid", "issuer"}:
        raise Refused(f"{given.name} needs keyid or issuer, not {', '.join(sorted(unknown))}")
    key = _key_id(given) if "keyid" in wanted else None
    if "keyid" in wanted and key is None and wanted["keyid"] == ALWAYS:
        raise Refused(f"{given.name}: the key ID of the signer is unknown, but 'always' requires it")
    issuer = serial = None
    if "issuer" in wanted and (wanted["issuer"] == ALWAYS or key is None):
        if given.signer is not None:
            issuer, serial = [part("x509").DirectoryName(given.signer.issuer)], given.signer.serial_number
        elif wanted["issuer"] == ALWAYS:
            raise Refused(f"{given.name}: 'issuer:always' needs a signing_cert")
    return False, part("x509").AuthorityKeyIdentifier(key, issuer, serial)


def _key_id(given: Given) -> bytes | None:
    x509 = part("x509")
    if given.signer is None and given.signer_key is None:
        return None
    if given.signer is not None:
        try:
            found = given.signer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
            return bytes(found.value.digest)
        except x509.ExtensionNotFound:
            pass
    key = given.signer.public_key() if given.signer is not None else given.signer_key
    return bytes(x509.AuthorityKeyIdentifier.from_issuer_public_key(key).key_identifier)


def alternative_names(given: Given) -> tuple[bool, Any]:
    critical, pairs = items(given)
    return critical, part("x509").SubjectAlternativeName(general_names(_each(pairs)))


def issuer_names(given: Given) -> tuple[bool, Any]:
    critical, names = _of_issuer(given)
    return critical, part("x509").IssuerAlternativeName(names)


def certificate_issuer(given: Given) -> tuple[bool, Any]:
    critical, names = _of_issuer(given)
    return critical, part("x509").CertificateIssuer(names)


def _each(pairs: list[tuple[str, object]]) -> list[tuple[str, object]]:
    """The single names; ``DNS: [a, b]`` has two."""
    several = (list, tuple)
    return [
        (kind, one)
        for kind, value in pairs
        for one in (value if isinstance(value, several) and kind != "dirName" else [value])
    ]


def _of_issuer(given: Given) -> tuple[bool, list[Any]]:
    """The names for ``issuer:copy``: the alternative names of the signer's certificate."""
    critical, pairs = items(given)
    copied: list[Any] = []
    if ("issuer", "copy") in pairs:
        x509 = part("x509")
        if given.signer is None:
            raise Refused(f"{given.name}: 'issuer:copy' needs a signing_cert")
        try:
            copied = list(given.signer.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
        except x509.ExtensionNotFound:
            raise Refused(f"{given.name}: signing_cert has no subjectAltName to copy") from None
    return critical, copied + general_names(_each([pair for pair in pairs if pair != ("issuer", "copy")]))


def authority_access(given: Given) -> tuple[bool, Any]:
    x509 = part("x509")
    found = []
    for method, place in _methods(given.value):
        known = ACCESS.get(method.strip().lower())
        found.append(x509.AccessDescription(identifier(known or method.strip()), general_name_of(place)))
    if not found:
        raise Refused(f"{given.name} is empty; give a value such as OCSP;URI:http://ocsp.example.org/")
    return False, x509.AuthorityInformationAccess(found)


def _methods(value: object) -> list[tuple[str, str]]:
    if isinstance(value, Mapping):
        return [(str(k), str(one)) for k, v in value.items() if k != CRITICAL for one in as_list(v)]
    if isinstance(value, list | tuple):
        return [pair for one in value for pair in _methods(one)]
    return [_method(item) for item in str(value).split(",") if item.strip() not in ("", CRITICAL)]


def _method(item: str) -> tuple[str, str]:
    method, found, place = item.partition(";")
    if not found:
        method, _, place = item.partition(":")
    return method.strip(), place.strip()
