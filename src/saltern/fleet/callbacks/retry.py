"""When a notification that did not arrive is sent again, and when it is given up. Pure."""

from __future__ import annotations

FIRST, LONGEST = 5.0, 3600.0  # seconds between two attempts: each wait is twice the one before
MOST = 12  # attempts; the last is some four hours after the first


def next_attempt(attempts: int, now: float, *, for_good: bool = False) -> float | None:
    """When it is tried again after so many attempts; None: never, it is dead."""
    if for_good or attempts >= MOST:
        return None
    return now + min(FIRST * 2.0 ** (attempts - 1), LONGEST)
