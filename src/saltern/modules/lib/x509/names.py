"""Names in certificates, with ``CN``, ``O`` and other parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509.library import part

# In their order within a name from a mapping; Salt's first, in its order.
ATTRIBUTES: dict[str, str] = {
    "DC": "DOMAIN_COMPONENT",
    "C": "COUNTRY_NAME",
    "ST": "STATE_OR_PROVINCE_NAME",
    "L": "LOCALITY_NAME",
    "STREET": "STREET_ADDRESS",
    "O": "ORGANIZATION_NAME",
    "OU": "ORGANIZATIONAL_UNIT_NAME",
    "CN": "COMMON_NAME",
    "MAIL": "EMAIL_ADDRESS",
    "SN": "SURNAME",
    "GN": "GIVEN_NAME",
    "UID": "USER_ID",
    "SERIALNUMBER": "SERIAL_NUMBER",
    "title": "TITLE",
}
ALIASES: dict[str, str] = {
    "commonName": "CN",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "SP": "ST",
    "organizationName": "O",
    "organizationUnitName": "OU",
    "organizationalUnitName": "OU",
    "givenName": "GN",
    "surname": "SN",
    "Email": "MAIL",
    "emailAddress": "MAIL",
    "serialNumber": "SERIALNUMBER",
    "street": "STREET",
    "countryName": "C",
}


def name_of(subject: object, kwargs: Mapping[str, object]) -> Any:
    """A name from ``subject`` (a mapping, a list, or text such as ``CN=a,O=b``) or from keywords."""
    x509 = part("x509")
    if subject is None or subject in ("", [], {}):
        return x509.Name(_attributes({key: value for key, value in kwargs.items() if is_part(key)}))
    if isinstance(subject, str):
        return from_text(subject)
    if isinstance(subject, Mapping):
        return x509.Name(_attributes(subject))
    if isinstance(subject, list | tuple):
        return x509.Name([rdn for item in subject for rdn in _relative(item)])
    raise Refused("subject must be a text, a mapping or a list")


def is_part(word: str) -> bool:
    return ALIASES.get(word, word) in ATTRIBUTES


def from_text(text: str) -> Any:
    try:
        return part("x509").Name.from_rfc4514_string(text, {"MAIL": part("oid").NameOID.EMAIL_ADDRESS})
    except ValueError:
        raise Refused(f"subject {text!r} is not a name such as 'CN=www.example.org,O=Example'") from None


def relative_name(text: str) -> Any:
    """One part of a name, such as ``CN=www`` or ``CN=www+OU=web``."""
    found = from_text(text).rdns
    if len(found) != 1:
        raise Refused(f"{text!r} is a whole name, but one part of a name is needed")
    return found[0]


def _relative(item: object) -> list[Any]:
    x509 = part("x509")
    if isinstance(item, Mapping):
        return [x509.RelativeDistinguishedName([one]) for one in _attributes(item)]
    if "=" not in str(item):
        raise Refused(f"subject contains {item!r}, which is not of the form 'CN=name'")
    return [relative_name(str(item))]


def _attributes(given: Mapping[str, object]) -> list[Any]:
    oids, x509 = part("oid").NameOID, part("x509")
    named = {ALIASES.get(str(key), str(key)): value for key, value in given.items()}
    if unknown := [key for key in named if key not in ATTRIBUTES]:
        raise Refused(f"no part of a name is called {unknown[0]!r}; use one of {', '.join(ATTRIBUTES)}")
    found = []
    for key, attribute in ATTRIBUTES.items():
        value = named.get(key)
        for one in value if isinstance(value, list) else [] if value is None else [value]:
            try:
                found.append(x509.NameAttribute(getattr(oids, attribute), str(one)))
            except ValueError as problem:
                raise Refused(f"{key} cannot be {one!r}: {problem}") from None
    return found
