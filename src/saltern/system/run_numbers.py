"""The one place that mints numbers of runs, chains and frames."""

from __future__ import annotations

from saltern.system.clock import clamp_moment, stamp


def run_number(now: float, after: str = "") -> str:
    """Twenty digits of time, as Salt names its jobs; later than ``after``, whatever the clock says."""
    whole, part = divmod(clamp_moment(now), 1)
    return later_number(f"{stamp(whole, '%Y%m%d%H%M%S')}{int(part * 1_000_000):06d}", after)


def later_number(wanted: str, after: str) -> str:
    """``wanted``, or the number next to ``after`` if that is not earlier. Both are digits, or empty."""
    return max(wanted, str(int(after) + 1), key=int) if after else wanted
