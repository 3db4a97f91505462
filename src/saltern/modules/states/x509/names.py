"""Names in certificates: ``CN``, ``O`` and their kin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.modules.states.file.answers import Refusal
from saltern.modules.states.x509.library import part

# In the order in which a mapping of them becomes a name.
ATTRIBUTES: dict[str, str] = {
    "DC": "DOMAIN_COMPONENT",
    "C": "COUNTRY_NAME",
    "ST": "STATE_OR_PROVINCE_NAME",
    "L": "LOCALITY_NAME",
    "STREET": "STREET_ADDRESS",
    "O": "ORGANIZATION_NAME",
    "OU": "ORGANIZATIONAL_UNIT_NAME",
    "title": "TITLE",
    "SN": "SURNAME",
    "GN": "GIVEN_NAME",
    "UID": "USER_ID",
    "serialNumber": "SERIAL_NUMBER",
    "CN": "COMMON_NAME",
    "emailAddress": "EMAIL_ADDRESS",
}
ALIASES = {"Email": "emailAddress", "MAIL": "emailAddress", "SP": "ST", "street": "STREET"}


def name_of(subject: object, kwargs: Mapping[str, object]) -> Any:
    """A name from ``subject`` (a mapping, a list, or text such as ``CN=a,O=b``) or from keywords."""
    x509 = part("x509")
    loose = {key: value for key, value in kwargs.items() if ALIASES.get(key, key) in ATTRIBUTES}
    if subject is None or subject == "":
        return x509.Name(_attributes(loose))
    if loose:
        raise Refusal(f"give either 'subject' or {', '.join(loose)}")
    if isinstance(subject, str):
        return _from_text(subject)
    if isinstance(subject, Mapping):
        return x509.Name(_attributes(subject))
    if isinstance(subject, list):
        return x509.Name([one for item in subject for one in _attributes(_pair(item))])
    raise Refusal("subject must be a text, a mapping or a list")


def _from_text(text: str) -> Any:
    try:
        return part("x509").Name.from_rfc4514_string(text)
    except ValueError:
        raise Refusal(
            f"subject {text!r} is not a name; it looks like 'CN=www.example.org,O=Example'"
        ) from None


def _pair(item: object) -> Mapping[str, object]:
    if isinstance(item, Mapping):
        return item
    key, equals, value = str(item).partition("=")
    if not equals:
        raise Refusal(f"subject holds {item!r}, which is not such as 'CN=name'")
    return {key.strip(): value.strip()}


def _attributes(given: Mapping[str, object]) -> list[Any]:
    oids, x509 = part("oid").NameOID, part("x509")
    named = {ALIASES.get(str(key), str(key)): value for key, value in given.items()}
    if unknown := [key for key in named if key not in ATTRIBUTES]:
        raise Refusal(f"no part of a name is called {unknown[0]!r}; these are: {', '.join(ATTRIBUTES)}")
    found = []
    for key, attribute in ATTRIBUTES.items():
        value = named.get(key)
        for one in value if isinstance(value, list) else [] if value is None else [value]:
            try:
                found.append(x509.NameAttribute(getattr(oids, attribute), str(one)))
            except ValueError as problem:
                raise Refusal(f"{key} cannot be {one!r}: {problem}") from None
    return found
