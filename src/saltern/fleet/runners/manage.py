"""``manage``: which systems are connected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saltern import __version__
from saltern.fleet.client.problems import ControllerError
from saltern.fleet.runners.ports import Around
from saltern.fleet.runners.remote import target_of

EMPTY = "fleet-target-empty"


def status(
    around: Around,
    output: bool = True,  # noqa: ARG001
    tgt: object = "*",
    tgt_type: str = "glob",
    timeout: object = None,  # noqa: ARG001
    gather_job_timeout: object = None,  # noqa: ARG001
) -> dict[str, list[str]]:
    """The connected systems, and those that are away."""
    target = target_of(tgt, tgt_type)
    try:
        found = around.ask.systems.poke(target)
    except ControllerError as problem:
        if problem.code != EMPTY:
            raise
        return {"up": [], "down": []}
    return {"up": sorted(found["there"]), "down": sorted([*found["away"], *found["silent"]])}


def up(
    around: Around,
    tgt: object = "*",
    tgt_type: str = "glob",
    timeout: object = None,  # noqa: ARG001
    gather_job_timeout: object = None,  # noqa: ARG001
) -> list[str]:
    """The systems that are there."""
    return status(around, tgt=tgt, tgt_type=tgt_type)["up"]


def down(
    around: Around,
    removekeys: bool = False,
    tgt: object = "*",
    tgt_type: str = "glob",
    timeout: object = None,  # noqa: ARG001
    gather_job_timeout: object = None,  # noqa: ARG001
) -> list[str]:
    """The systems that are away; with ``removekeys`` they are removed from the fleet."""
    found = status(around, tgt=tgt, tgt_type=tgt_type)["down"]
    if removekeys:
        for system in found:
            around.ask.systems.remove(system)
    return found


def versions(around: Around) -> dict[str, Any]:
    """The versions of the connected agents, compared with that of the controller."""
    found: dict[str, Any] = {"Master": __version__}
    for row in around.ask.systems.list(state="accepted"):
        label = "Minion offline" if not row["online"] else _compare_version(row["version"])
        found.setdefault(label, {})[row["id"]] = row["version"] if row["online"] else False
    return found


def _compare_version(version: str) -> str:
    def key(text: str) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isdigit() else (0, part) for part in text.split(".")]

    if version == __version__:
        return "Up to date"
    return "Minion newer than master" if key(version) > key(__version__) else "Minion requires update"


def _by_presence(online: bool) -> Callable[..., Any]:
    def list_systems(around: Around, subset: object = None, show_ip: bool = False) -> Any:
        """The systems that are connected or away, by what the controller has last seen."""
        wanted = None if subset is None else subset if isinstance(subset, list) else str(subset).split(",")
        rows = [row for row in around.ask.systems.list(state="accepted") if row["online"] is online]
        ids = sorted(row["id"] for row in rows if wanted is None or row["id"] in wanted)
        return {id_: _address(around, id_) for id_ in ids} if show_ip else ids

    return list_systems


def _address(around: Around, system: str) -> str:
    grains = around.ask.systems.facts(system).get("grains") or {}
    addresses = [one for one in grains.get("ipv4", ()) if not str(one).startswith("127.")]
    return str(addresses[0]) if addresses else ""


present, not_present = _by_presence(True), _by_presence(False)
RUNNERS: dict[str, Callable[..., object]] = {
    "manage.status": status,
    "manage.up": up,
    "manage.down": down,
    "manage.versions": versions,
    **{f"manage.{name}": present for name in ("present", "joined", "alived", "allowed", "list_state")},
    **{
        f"manage.{name}": not_present
        for name in ("not_present", "not_joined", "not_alived", "not_allowed", "list_not_state")
    },
}
