"""The containers of a network: disconnect them before the network is removed, and connect them again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from saltern.modules.api.converge import Changes
from saltern.modules.lib.containers import lifecycle, networks
from saltern.modules.lib.containers.driver_secrets import hide_passwords
from saltern.modules.lib.containers.endpoints import Endpoint
from saltern.modules.lib.containers.engine import Engine, Seen


def find(engine: Engine, name: str) -> Seen | None:
    """The network with exactly this name; the engine itself would also accept the beginning of an ID."""
    seen = engine.find(f"/networks/{lifecycle.check_name(name)}")
    return seen if seen and seen.get("Name") == name else None


def members(engine: Engine, containers: list[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The IDs and names of containers that can be connected, and warnings about the others."""
    found: dict[str, str] = {}
    missing, resting = [], []
    for name in containers:
        seen = lifecycle.find(engine, name, by_id=True)
        if seen is None:
            missing.append(name)
        elif lifecycle.state_of(seen) != lifecycle.RUNNING:
            resting.append(name)
        else:
            found[seen["Id"]] = name
    reported = [f"no such container: {', '.join(missing)}"] if missing else []
    reported += [f"not running, and so not connected: {', '.join(resting)}"] if resting else []
    return found, tuple(reported)


def remember_members(engine: Engine, seen: Seen) -> dict[str, Endpoint]:
    """The chosen settings of each container's connection."""
    return {key: _endpoint(engine, key, seen["Name"]) for key in seen.get("Containers") or {}}


def _endpoint(engine: Engine, container: str, network: str) -> Endpoint:
    reported = engine.find(f"/containers/{container}/json") or {}
    here: dict[str, Any] = ((reported.get("NetworkSettings") or {}).get("Networks") or {}).get(network) or {}
    chosen = here.get("IPAMConfig") or {}
    own = container[: lifecycle.SHORT_ID]
    return Endpoint(
        ipv4_address=chosen.get("IPv4Address") or "",
        ipv6_address=chosen.get("IPv6Address") or "",
        aliases=tuple(one for one in here.get("Aliases") or () if one != own),
        links=tuple(here.get("Links") or ()),
    )


def take_down(engine: Engine, seen: Seen) -> None:
    for container in seen.get("Containers") or {}:
        lifecycle.disconnect(engine, container, seen["Id"], force=True)
    engine.ask("DELETE", f"/networks/{seen['Id']}")


def back(engine: Engine, name: str, former: Mapping[str, Endpoint]) -> None:
    """Connect containers as before; the engine chooses an address if the new network lacks the old one."""
    if not former:
        return
    pools = (find(engine, name) or {}).get("IPAM", {}).get("Config") or []
    subnets = [networks.subnet(one["Subnet"]) for one in pools if one.get("Subnet")]
    for container, endpoint in former.items():
        kept = {
            key: value if value and networks.inside(value, subnets) else ""
            for key, value in (
                ("ipv4_address", endpoint.ipv4_address),
                ("ipv6_address", endpoint.ipv6_address),
            )
        }
        lifecycle.connect(engine, container, name, replace(endpoint, **kept))


def connect_all(engine: Engine, name: str, wanted: Mapping[str, str]) -> None:
    inside = (find(engine, name) or {}).get("Containers") or {}
    for container in wanted:
        if container not in inside:
            lifecycle.connect(engine, container, name, Endpoint())


def facts(name: str, seen: Seen | None) -> Changes:
    if seen is None:
        return {"name": name, "exists": False}
    pools = (seen.get("IPAM") or {}).get("Config") or []
    return {
        "name": name,
        "exists": True,
        "id": seen["Id"],
        "driver": seen.get("Driver"),
        "internal": bool(seen.get("Internal")),
        "options": hide_passwords(seen.get("Options")),
        "labels": seen.get("Labels") or {},
        "subnets": [one.get("Subnet") for one in pools],
        "containers": sorted(one.get("Name", "") for one in (seen.get("Containers") or {}).values()),
    }
