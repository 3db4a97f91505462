"""The garbage collector: off while a command compiles, on again in a process that runs for long."""

from __future__ import annotations

import gc

BUSY = 10_000  # new objects after which the collector runs, in processes that make many at once


def collect_from_now_on(threshold: int = 0) -> None:
    """Turn on the collector in a long-running process that has started: objects made until then are not
    examined again, and later cycles of unused objects are removed. ``threshold``: the number of new objects
    after which the collector runs, if not the usual 700.
    """
    gc.collect()
    gc.freeze()
    if threshold:
        gc.set_threshold(threshold, *gc.get_threshold()[1:])
    gc.enable()


def collections() -> dict[str, float]:
    """How often each generation was collected."""
    return {str(number): float(one["collections"]) for number, one in enumerate(gc.get_stats())}
