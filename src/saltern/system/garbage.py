"""The garbage collector: off while a command compiles, on again in a process that stays."""

from __future__ import annotations

import gc

BUSY = 10_000  # new objects after which the collector looks at them, where many are made at once


def collect_from_now_on(threshold: int = 0) -> None:
    """Called by a process that stays, once it has started: what was made until then is not looked at again,
    and what is made and forgotten from here on in circles is removed. ``threshold``: new objects after which
    the collector looks at them, if not the usual 700.
    """
    gc.collect()
    gc.freeze()
    if threshold:
        gc.set_threshold(threshold, *gc.get_threshold()[1:])
    gc.enable()


def collections() -> dict[str, float]:
    """How often each generation was collected."""
    return {str(number): float(one["collections"]) for number, one in enumerate(gc.get_stats())}
