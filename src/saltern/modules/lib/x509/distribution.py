"""Extensions with the location and the scope of revocation lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509.general_names import general_name, general_name_of
from saltern.modules.lib.x509.library import part
from saltern.modules.lib.x509.names import relative_name
from saltern.modules.lib.x509.values import Given, as_list, flag, items

# Reasons in the spelling of OpenSSL and older states, and in that of the library.
SPELLINGS = {"CACompromise": "cACompromise", "AACompromise": "aACompromise"}
POINT = frozenset({"fullname", "relativename", "crlissuer", "reasons"})


def reason(text: object) -> Any:
    x509 = part("x509")
    try:
        return x509.ReasonFlags(SPELLINGS.get(str(text), str(text)))
    except ValueError:
        known = ", ".join(str(one.value) for one in x509.ReasonFlags)
        raise Refused(f"no reason for a revocation is called {text!r}; use one of {known}") from None


def _reasons(value: object) -> frozenset[Any] | None:
    return frozenset(reason(one) for one in as_list(value)) or None


def _names(value: object) -> list[Any] | None:
    return [general_name_of(one) for one in as_list(value)] or None


def _points(given: Given) -> tuple[bool, list[Any]]:
    value = given.value
    if _is_point(value):
        return items(given)[0], [_point(value)]
    if not isinstance(value, list | tuple):
        critical, pairs = items(given)
        return critical, [_plain(kind, one) for kind, place in pairs for one in as_list(place)]
    critical = False
    points: list[Any] = []
    for one in value:
        each, found = _points(Given(name=given.name, value=one))
        critical, points = critical or each, points + found
    return critical, points


def _is_point(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping) and bool(POINT & set(value))


def _plain(kind: str, place: object) -> Any:
    return part("x509").DistributionPoint([general_name(kind, place)], None, None, None)


def _point(given: Mapping[str, object]) -> Any:
    relative = given.get("relativename")
    try:
        return part("x509").DistributionPoint(
            full_name=_names(given.get("fullname")),
            relative_name=relative_name(str(relative)) if relative else None,
            reasons=_reasons(given.get("reasons")),
            crl_issuer=_names(given.get("crlissuer")),
        )
    except (ValueError, TypeError) as problem:
        raise Refused(f"a distribution point is invalid: {problem}") from None


def crl_points(given: Given) -> tuple[bool, Any]:
    critical, points = _points(given)
    return critical, part("x509").CRLDistributionPoints(points)


def freshest_crl(given: Given) -> tuple[bool, Any]:
    return False, part("x509").FreshestCRL(_points(given)[1])


def issuing_point(given: Given) -> tuple[bool, Any]:
    value = given.value
    if not isinstance(value, Mapping):
        raise Refused(f"{given.name} must be a mapping, with fullname, onlyuser, onlyCA …")
    relative = value.get("relativename")
    try:
        return flag(value.get("critical")), part("x509").IssuingDistributionPoint(
            full_name=_names(value.get("fullname")),
            relative_name=relative_name(str(relative)) if relative else None,
            only_contains_user_certs=flag(value.get("onlyuser")),
            only_contains_ca_certs=flag(value.get("onlyCA")),
            only_some_reasons=_reasons(value.get("onlysomereasons")),
            indirect_crl=flag(value.get("indirectCRL")),
            only_contains_attribute_certs=flag(value.get("onlyAA")),
        )
    except (ValueError, TypeError) as problem:
        raise Refused(f"{given.name} is invalid: {problem}") from None
