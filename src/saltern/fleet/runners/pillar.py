"""``pillar``: the pillar of a system, or of the controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saltern.fleet.runners.ports import Around, local_of, runner_problem
from saltern.fleet.runners.remote import execute


def show_pillar(around: Around, minion: str = "*", **_: object) -> dict[str, Any]:
    """The pillar of a connected system; without a name, that of the controller."""
    if minion == "*":
        return dict(local_of(around, "pillar.show_pillar").pillar())
    found = execute(around, [minion], "pillar.items", tgt_type="list")
    if minion not in found:
        raise runner_problem(f"{minion} is not there, and its pillar is compiled when it asks")
    value: dict[str, Any] = found[minion]
    return value


RUNNERS: dict[str, Callable[..., object]] = {"pillar.show_pillar": show_pillar}
