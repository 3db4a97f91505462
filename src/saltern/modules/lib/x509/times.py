"""Times and serial numbers of certificates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from saltern.modules.api.refused import Refused

FORM = "%Y-%m-%d %H:%M:%S"
FIRST, LAST = datetime(1950, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


def moment(name: str, given: object) -> datetime | None:
    """A time in UTC; YAML may already have parsed it."""
    if given is None or given == "":
        return None
    try:
        found = given if isinstance(given, datetime) else datetime.strptime(str(given), FORM)
    except ValueError:
        raise Refused(f"{name} must be a time such as '2026-01-31 12:00:00', got {given!r}") from None
    if (when := found.replace(tzinfo=UTC)) < FIRST:
        raise Refused(f"{name}: certificates have no time before {FIRST:{FORM}}, got {given!r}")
    return when


def serial(given: object) -> int | None:
    """The serial number from a number, or from hexadecimal digits with or without colons."""
    if given is None:
        return None
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    try:
        return int(str(given).replace(":", ""), 16)
    except ValueError:
        raise Refused(f"serial_number {given!r} is neither a number nor hexadecimal digits") from None


def pretty_hex(data: bytes) -> str:
    return ":".join(f"{byte:02X}" for byte in data)


def pretty_number(value: int) -> str:
    return pretty_hex(value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big"))


def days_later(now: datetime, days: int) -> datetime:
    """The time some days later, within the range of times in certificates."""
    try:
        return min(max(now + timedelta(days=days), FIRST), LAST)
    except OverflowError:
        return LAST if days > 0 else FIRST
