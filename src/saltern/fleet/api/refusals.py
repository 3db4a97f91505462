"""Records refused requests in the audit: the first ones, then a few a minute with a count.

The audit is kept for ever, so a client that is refused repeatedly must not fill the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from saltern.fleet.controller.limits import FORGET, RateLimit

BURST = 30.0
RATE = 0.1  # rows a second for one person, after the first ones
LONGEST = 200  # characters of one text in a row


class RefusalLimit:
    """``row`` returns the audit entry for a refusal; None if it is only counted."""

    def __init__(self, clock: Callable[[], float], *, rate: float = RATE, burst: float = BURST) -> None:
        self._limit = RateLimit(rate, burst, clock)
        self._left_out: dict[str, int] = {}

    def row(self, who: str, detail: Mapping[str, object]) -> dict[str, object] | None:
        if not self._limit.allow(who):
            self._left_out[who] = self._left_out.pop(who, 0) + 1
            if len(self._left_out) > FORGET:
                del self._left_out[next(iter(self._left_out))]
            return None
        left_out = self._left_out.pop(who, 0)
        return {**{key: _short(value) for key, value in detail.items()}, **_count(left_out)}


def _count(left_out: int) -> dict[str, object]:
    return {"left_out": left_out} if left_out else {}


def _short(value: object) -> object:
    return f"{value[:LONGEST]}…" if isinstance(value, str) and len(value) > LONGEST else value
