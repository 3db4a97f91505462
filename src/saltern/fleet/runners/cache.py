"""``cache`` and ``mine``: what the controller knows about systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saltern.fleet.runners.ports import Around, runner_problem
from saltern.fleet.runners.remote import execute, target_of


def grains(around: Around, tgt: object = "*", tgt_type: str = "glob", **_: object) -> dict[str, Any]:
    """The last reported grains of systems, including those that are away."""
    systems = around.ask.systems.resolve(target_of(tgt, tgt_type))
    return {system: around.ask.systems.facts(system).get("grains") or {} for system in systems}


def pillar(around: Around, tgt: object = "*", tgt_type: str = "glob", **_: object) -> dict[str, Any]:
    """The pillar of systems that are connected."""
    return execute(around, tgt, "pillar.items", tgt_type=tgt_type)


def mine(around: Around, tgt: object = "*", tgt_type: str = "glob", **_: object) -> dict[str, Any]:
    """What systems have put into the mine."""
    return {
        system: {row["function"]: row["value"] for row in _mine_rows(around, system)}
        for system in around.ask.systems.resolve(target_of(tgt, tgt_type))
    }


def mine_get(around: Around, tgt: object, fun: object, tgt_type: str = "glob") -> dict[str, Any]:
    """What systems have put into the mine under a function; of several functions, by function."""
    names = fun if isinstance(fun, list) else [one.strip() for one in str(fun).split(",")]
    known = mine(around, tgt, tgt_type)
    found = {name: {key: one[name] for key, one in known.items() if name in one} for name in names}
    return found if len(names) > 1 else found[names[0]]


def mine_update(around: Around, tgt: object, tgt_type: str = "glob", **_: object) -> dict[str, Any]:
    """Have systems publish their values to the mine again."""
    return execute(around, tgt, "mine.update", tgt_type=tgt_type)


def _mine_rows(around: Around, system: str) -> list[dict[str, Any]]:
    reader: Callable[[str], Any] | None = getattr(getattr(around.ask, "mine", None), "of", None)
    if reader is None:
        raise runner_problem("this controller has no mine")
    return list(reader(system))


def _cleared(_around: Around, *_args: object, **_kwargs: object) -> bool:
    """Do nothing: the cache always holds what a system reported last."""
    return True


RUNNERS: dict[str, Callable[..., object]] = {
    "cache.grains": grains,
    "cache.mine": mine,
    "cache.pillar": pillar,
    **{f"cache.clear_{name}": _cleared for name in ("all", "grains", "pillar", "mine", "mine_func")},
    "mine.get": mine_get,
    "mine.update": mine_update,
}
