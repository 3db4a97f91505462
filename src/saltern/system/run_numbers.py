"""The one place that mints numbers of runs, chains and frames."""

from __future__ import annotations

import time


def run_number(now: float, after: str = "") -> str:
    """Twenty digits of time, as Salt names its jobs; later than ``after``, whatever the clock says."""
    whole, part = divmod(now, 1)
    stamp = f"{time.strftime('%Y%m%d%H%M%S', time.gmtime(whole))}{int(part * 1_000_000):06d}"
    return later_number(stamp, after)


def later_number(wanted: str, after: str) -> str:
    """``wanted``, or the number next to ``after`` if that is not earlier. Both are digits, or empty."""
    return max(wanted, str(int(after) + 1)) if after else wanted
