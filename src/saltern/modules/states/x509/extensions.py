"""Extensions of certificates, written as OpenSSL writes them; one row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from saltern.modules.states.file.answers import Refusal
from saltern.modules.states.x509.library import part

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
    "serverAuth": "SERVER_AUTH",
    "clientAuth": "CLIENT_AUTH",
    "codeSigning": "CODE_SIGNING",
    "emailProtection": "EMAIL_PROTECTION",
    "timeStamping": "TIME_STAMPING",
    "OCSPSigning": "OCSP_SIGNING",
}


class Given(Struct, frozen=True):
    """What the user wrote for an extension: its items, and the keys it may speak of."""

    items: list[str]
    public_key: Any
    signer: Any  # the certificate that signs, or None
    signer_key: Any  # its public key


def _options(given: Given) -> dict[str, str]:
    pairs = (item.partition(":") for item in given.items)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _basic_constraints(given: Given) -> Any:
    options = _options(given)
    length = options.get("pathlen")
    if length is not None and not length.isdecimal():
        raise Refusal(f"pathlen needs a number, got {length!r}")
    ca = options.get("ca", "false").lower() in ("true", "yes", "1")
    return part("x509").BasicConstraints(ca=ca, path_length=int(length) if length is not None else None)


def _key_usage(given: Given) -> Any:
    flags = dict.fromkeys(USAGES.values(), False)
    for item in given.items:
        if item not in USAGES:
            raise Refusal(f"no keyUsage is called {item!r}; these are: {', '.join(USAGES)}")
        flags[USAGES[item]] = True
    return part("x509").KeyUsage(**flags)


def _extended_key_usage(given: Given) -> Any:
    oids, x509 = part("oid").ExtendedKeyUsageOID, part("x509")
    found = []
    for item in given.items:
        if item in PURPOSES:
            found.append(getattr(oids, PURPOSES[item]))
        elif item.replace(".", "").isdecimal():
            found.append(x509.ObjectIdentifier(item))
        else:
            raise Refusal(f"no extendedKeyUsage is called {item!r}; these are: {', '.join(PURPOSES)}")
    return x509.ExtendedKeyUsage(found)


def _subject_key(given: Given) -> Any:
    x509 = part("x509")
    if given.items == ["hash"]:
        return x509.SubjectKeyIdentifier.from_public_key(given.public_key)
    try:
        return x509.SubjectKeyIdentifier(bytes.fromhex(given.items[0].replace(":", "")))
    except (ValueError, IndexError):
        raise Refusal("subjectKeyIdentifier must be 'hash' or hexadecimal digits") from None


def _authority_key(given: Given) -> Any:
    x509 = part("x509")
    own = x509.AuthorityKeyIdentifier.from_issuer_public_key(given.signer_key)
    if given.signer is None:
        return own
    try:
        found = given.signer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    except x509.ExtensionNotFound:
        return own
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(found.value)


def general_names(items: list[str]) -> list[Any]:
    return [_general_name(item) for item in items]


def _general_name(item: str) -> Any:
    import ipaddress

    x509 = part("x509")
    kind, _, value = item.partition(":")
    value = value.strip()
    makers: dict[str, Callable[[], Any]] = {
        "dns": lambda: x509.DNSName(value.encode("idna").decode() if not value.isascii() else value),
        "ip": lambda: x509.IPAddress(
            ipaddress.ip_network(value) if "/" in value else ipaddress.ip_address(value)
        ),
        "email": lambda: x509.RFC822Name(value),
        "uri": lambda: x509.UniformResourceIdentifier(value),
        "rid": lambda: x509.RegisteredID(x509.ObjectIdentifier(value)),
        "dirname": lambda: x509.DirectoryName(x509.Name.from_rfc4514_string(value)),
    }
    make = makers.get(kind.strip().lower().replace("ip address", "ip"))
    if make is None or not value:
        raise Refusal(
            f"{item!r} is not such as DNS:www.example.org; kinds are DNS, IP, email, URI, RID, dirName"
        )
    try:
        return make()
    except (ValueError, UnicodeError) as problem:
        raise Refusal(f"{item!r} is not right: {problem}") from None


def _alternative_names(given: Given) -> Any:
    return part("x509").SubjectAlternativeName(general_names(given.items))


def _crl_points(given: Given) -> Any:
    x509 = part("x509")
    points = [
        x509.DistributionPoint(full_name=[name], relative_name=None, reasons=None, crl_issuer=None)
        for name in general_names(given.items)
    ]
    return x509.CRLDistributionPoints(points)


def _authority_access(given: Given) -> Any:
    x509, oids = part("x509"), part("oid").AuthorityInformationAccessOID
    methods = {"ocsp": oids.OCSP, "caissuers": oids.CA_ISSUERS}
    found = []
    for item in given.items:
        method, _, place = item.replace(";", ":", 1).partition(":")
        if method.strip().lower() not in methods:
            raise Refusal(f"{item!r} is not such as OCSP;URI:http://…, or caIssuers;URI:http://…")
        found.append(x509.AccessDescription(methods[method.strip().lower()], _general_name(place)))
    return x509.AuthorityInformationAccess(found)


EXTENSIONS: dict[str, Callable[[Given], Any]] = {
    "basicConstraints": _basic_constraints,
    "keyUsage": _key_usage,
    "extendedKeyUsage": _extended_key_usage,
    "subjectKeyIdentifier": _subject_key,
    "authorityKeyIdentifier": _authority_key,
    "subjectAltName": _alternative_names,
    "crlDistributionPoints": _crl_points,
    "authorityInfoAccess": _authority_access,
}


def extensions(kwargs: Mapping[str, object], public_key: Any, signer: Any, signer_key: Any) -> dict[str, Any]:
    """The extensions that were asked for: ``{name: (critical, value)}``."""
    found = {}
    for name, make in EXTENSIONS.items():
        if kwargs.get(name) not in (None, "", []):
            critical, items = _items(kwargs[name])
            found[name] = (critical, make(Given(items, public_key, signer, signer_key)))
    return found


def _items(value: object) -> tuple[bool, list[str]]:
    """``critical, CA:TRUE`` as text, list or mapping."""
    if isinstance(value, Mapping):
        items = [
            str(key) if inner is True else f"{key}:{inner}"
            for key, inner in value.items()
            if inner is not None
        ]
    elif isinstance(value, list):
        items = [item for one in value for item in _items(one)[1]]
        items = ["critical", *items] if any(_items(one)[0] for one in value) else items
    else:
        items = [item.strip() for item in str(value).split(",") if item.strip()]
    return "critical" in items, [item for item in items if item not in ("critical", "critical:False")]


def different(wanted: Mapping[str, tuple[bool, Any]], found: Any) -> dict[str, list[str]]:
    """Which extensions are to be added, changed and removed."""
    here = {one.oid.dotted_string: (one.critical, one.value) for one in found}
    want = {value.oid.dotted_string: (name, critical, value) for name, (critical, value) in wanted.items()}
    told = {
        "added": [row[0] for oid, row in want.items() if oid not in here],
        "changed": [row[0] for oid, row in want.items() if oid in here and here[oid] != row[1:]],
        "removed": [str(one.oid._name) for one in found if one.oid.dotted_string not in want],
    }
    return {word: sorted(names) for word, names in told.items() if names}
