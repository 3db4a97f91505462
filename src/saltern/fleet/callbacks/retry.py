"""When to send a notification again that did not arrive, and when to give up. Pure."""

from __future__ import annotations

FIRST, LONGEST = 5.0, 3600.0  # seconds between two attempts: each wait is twice the one before
MOST = 12  # attempts; the last is some four hours after the first


def next_attempt(attempts: int, now: float, *, for_good: bool = False) -> float | None:
    """When to try again after this number of attempts; None: never, it is dead."""
    if for_good or attempts >= MOST:
        return None
    return now + min(FIRST * 2.0 ** (attempts - 1), LONGEST)
