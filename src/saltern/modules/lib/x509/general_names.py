"""General names in OpenSSL's syntax: ``DNS:www.example.org``, ``IP:192.0.2.1``, ``email:a@b.org``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509.library import part
from saltern.modules.lib.x509.names import name_of

KINDS = "DNS, IP, email, URI, RID, dirName"
LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?")
IDENTIFIER = re.compile(r"[012](?:\.\d+)+")
LONGEST_LABEL = 63


def general_names(items: Iterable[tuple[str, object]]) -> list[Any]:
    return [general_name(kind, value) for kind, value in items]


def general_name_of(text: object) -> Any:
    """The name in a text such as ``URI:http://example.org/``."""
    kind, _, value = str(text).partition(":")
    return general_name(kind, value)


def general_name(kind: str, value: object) -> Any:
    plain = kind.strip().lower()
    make = MAKERS.get(ALIASES.get(plain, plain))
    if make is None:
        raise Refused(f"no kind of name is called {kind.strip()!r}; use one of {KINDS}")
    text = value.strip() if isinstance(value, str) else value
    if text in (None, "", True):
        raise Refused(f"{kind.strip()!r} needs a value, such as DNS:www.example.org")
    try:
        return make(text)
    except (ValueError, TypeError, UnicodeError) as problem:
        raise Refused(f"{kind}:{value} is invalid: {problem}") from None


def identifier(text: object) -> Any:
    """An object identifier such as ``1.2.3.4``."""
    if not IDENTIFIER.fullmatch(str(text)):
        raise Refused(f"{text!r} is not an object identifier such as 1.3.6.1.5.5.7.3.1")
    try:
        return part("x509").ObjectIdentifier(str(text))
    except ValueError:
        raise Refused(f"{text!r} is not an object identifier") from None


def domain(text: str, *, dot: bool = False, wildcard: bool = False) -> str:
    """A domain for certificates, with letters beyond ASCII in their DNS form."""
    before = ""
    if dot and text.startswith("."):
        before, text = ".", text[1:]
    elif wildcard and text.startswith("*."):
        before, text = "*.", text[2:]
    return before + ".".join(_label(label, text) for label in text.split("."))


def _label(label: str, whole: str) -> str:
    if not label.isascii():
        plain = unicodedata.normalize("NFC", label.lower())
        label = "xn--" + plain.encode("punycode").decode("ascii")
    if not LABEL.fullmatch(label) or len(label) > LONGEST_LABEL:
        raise Refused(f"{whole!r} is not a domain: {label!r} cannot be part of one")
    return label


def _address(text: str) -> Any:
    import ipaddress

    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return ipaddress.ip_network(text)


def _email(text: str) -> str:
    user, at, host = text.rpartition("@")
    return f"{user}@{domain(host)}" if at else domain(text, dot=True)


def _uri(text: str) -> str:
    from urllib.parse import urlsplit

    host = urlsplit(text).hostname
    return text if host is None or host.isascii() else text.replace(host, domain(host), 1)


ALIASES = {"ip address": "ip", "ipaddress": "ip", "mail": "email", "rfc822": "email"}
MAKERS: dict[str, Callable[[Any], Any]] = {
    "dns": lambda text: part("x509").DNSName(domain(text, dot=True, wildcard=True)),
    "ip": lambda text: part("x509").IPAddress(_address(text)),
    "email": lambda text: part("x509").RFC822Name(_email(text)),
    "uri": lambda text: part("x509").UniformResourceIdentifier(_uri(text)),
    "rid": lambda text: part("x509").RegisteredID(identifier(text)),
    "dirname": lambda given: part("x509").DirectoryName(name_of(given, {})),
}
