"""The only place that creates the numbers of runs, chains and frames."""

from __future__ import annotations

from saltern.system.clock import clamp_moment, stamp


def run_number(now: float, after: str = "") -> str:
    """Twenty digits of time, like Salt's job IDs; always later than ``after``, even if the clock is not."""
    whole, part = divmod(clamp_moment(now), 1)
    return later_number(f"{stamp(whole, '%Y%m%d%H%M%S')}{int(part * 1_000_000):06d}", after)


def later_number(wanted: str, after: str) -> str:
    """``wanted``, or the number after ``after`` if ``wanted`` is not later. Both are digits, or empty."""
    return max(wanted, str(int(after) + 1), key=int) if after else wanted
