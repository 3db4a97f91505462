"""Extensions of revocation lists and of their entries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509.distribution import reason
from saltern.modules.lib.x509.library import part
from saltern.modules.lib.x509.times import FORM
from saltern.modules.lib.x509.values import CRITICAL, Given, words


def crl_number(given: Given) -> tuple[bool, Any]:
    if isinstance(given.value, bool) or not str(given.value).strip().isdecimal():
        raise Refused(f"{given.name} must be a number, and cannot be critical")
    return False, part("x509").CRLNumber(int(str(given.value)))


def delta_indicator(given: Given) -> tuple[bool, Any]:
    value = given.value.get("value") if isinstance(given.value, Mapping) else given.value
    numbers = re.findall(r"\d+", str(value))
    if len(numbers) != 1:
        raise Refused(f"{given.name} must be one number: the cRLNumber of the base list")
    return CRITICAL in str(given.value), part("x509").DeltaCRLIndicator(int(numbers[0]))


def crl_reason(given: Given) -> tuple[bool, Any]:
    critical, found = words(given)
    if len(found) != 1:
        raise Refused(f"{given.name} must be one reason, got {given.value!r}")
    return critical, part("x509").CRLReason(reason(found[0]))


def invalidity_date(given: Given) -> tuple[bool, Any]:
    text = str(given.value).strip()
    critical = text.startswith(CRITICAL)
    text = text.removeprefix(CRITICAL).strip(" ,")
    try:
        return critical, part("x509").InvalidityDate(datetime.strptime(text, FORM))
    except ValueError:
        raise Refused(
            f"{given.name} must be a time such as '2026-01-31 12:00:00', got {given.value!r}"
        ) from None
