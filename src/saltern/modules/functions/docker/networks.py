"""``docker``: networks."""

from __future__ import annotations

from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.functions.docker.container_query import the
from saltern.modules.lib.containers import endpoints, lifecycle, values
from saltern.modules.lib.containers import networks as nets
from saltern.modules.lib.containers.engine import Engine, Seen, engine


def _the(docker: Engine, name: str) -> Seen:
    seen = docker.find(f"/networks/{lifecycle.check_name(name)}")
    if seen is None:
        raise Refused(f"there is no network {name!r}")
    return seen


@function
def networks(
    ctx: Context, names: list[str] | None = None, ids: list[str] | None = None
) -> list[dict[str, Any]]:
    """The networks.

    Args:
        names: only networks with these names.
        ids: only networks with these IDs.

    Example:
        ```console
        $ saltern call docker.networks
        ```
    """
    filters = {key: values.texts(given) for key, given in (("name", names), ("id", ids)) if given}
    found: list[dict[str, Any]] = engine(ctx).get("/networks", {"filters": filters or None})
    return found


@function
def inspect_network(ctx: Context, network_id: str) -> dict[str, Any]:
    """All data of a network.

    Args:
        network_id: its name or ID.

    Example:
        ```console
        $ saltern call docker.inspect_network bridge
        ```
    """
    return _the(engine(ctx), network_id)


@function
def connected(ctx: Context, name: str, verbose: bool = False) -> object:
    """The running containers in a network.

    Args:
        name: the name or ID of the network.
        verbose: include their addresses, by ID.

    Example:
        ```console
        $ saltern call docker.connected bridge
        ```
    """
    found: dict[str, dict[str, Any]] = _the(engine(ctx), name).get("Containers") or {}
    return found if verbose else sorted(str(one.get("Name")) for one in found.values())


@function
def create_network(
    ctx: Context,
    name: str,
    driver: str = "bridge",
    driver_opts: object = None,
    subnet: str | None = None,
    iprange: str | None = None,
    gateway: str | None = None,
    internal: bool = False,
    enable_ipv6: bool = False,
    attachable: bool = False,
    labels: object = None,
) -> dict[str, Any]:
    """Create a network. Returns ``{Id, Warning}``.

    Args:
        name: its name.
        driver: its driver.
        driver_opts: options of the driver.
        subnet: its addresses, ``10.0.20.0/24``; the engine chooses if not given.
        iprange: the part of the subnet from which containers get their addresses.
        gateway: the address of the gateway.
        internal: containers in it cannot reach other networks.
        enable_ipv6: enable IPv6, too.
        attachable: containers without a service may join it.
        labels: ``{name: value}`` or ``name=value``.

    Example:
        ```console
        $ saltern call docker.create_network backend subnet=10.210.30.0/24
        ```
    """
    given = {"subnet": subnet, "iprange": iprange, "gateway": gateway}
    flags = {"Internal": internal, "EnableIPv6": enable_ipv6, "Attachable": attachable}
    want = nets.DesiredNetwork(
        name=lifecycle.check_name(name),
        driver=driver,
        options=values.settings(driver_opts or {}),
        labels=values.labels(labels or {}),
        flags=flags,
        ipam=nets.ipam([nets.pool(given, validate=True)], None, None) if any(given.values()) else {},
    )
    made: dict[str, Any] = engine(ctx).data("POST", "/networks/create", body=want.body())
    return made


@function
def remove_network(ctx: Context, network_id: str) -> bool:
    """Remove a network without containers.

    Args:
        network_id: its name or ID.

    Example:
        ```console
        $ saltern call docker.remove_network backend
        ```
    """
    engine(ctx).ask("DELETE", f"/networks/{lifecycle.check_name(network_id)}")
    return True


@function
def connect_container_to_network(ctx: Context, /, container: str, net_id: str, **endpoint: object) -> bool:
    """Connect a container to a network.

    Args:
        container: the name or ID of the container.
        net_id: the name or ID of the network.
        endpoint: ``ipv4_address``, ``ipv6_address``, ``aliases``, ``links``, ``link_local_ips``.

    Example:
        ```console
        $ saltern call docker.connect_container_to_network web backend aliases=www
        ```
    """
    docker = engine(ctx)
    (place,) = endpoints.read({net_id: dict(endpoint)}).values()
    lifecycle.connect(docker, the(docker, container)["Id"], _the(docker, net_id)["Id"], place)
    return True


@function
def disconnect_container_from_network(ctx: Context, container: str, network_id: str) -> bool:
    """Disconnect a container from a network.

    Args:
        container: the name or ID of the container.
        network_id: the name or ID of the network.

    Example:
        ```console
        $ saltern call docker.disconnect_container_from_network web backend
        ```
    """
    docker = engine(ctx)
    lifecycle.disconnect(docker, the(docker, container)["Id"], _the(docker, network_id)["Id"])
    return True


@function
def disconnect_all_containers_from_network(ctx: Context, network_id: str) -> list[str]:
    """Disconnect all containers from a network. Returns their names.

    Args:
        network_id: the name or ID of the network.

    Example:
        ```console
        $ saltern call docker.disconnect_all_containers_from_network backend
        ```
    """
    docker = engine(ctx)
    seen = _the(docker, network_id)
    found: dict[str, dict[str, Any]] = seen.get("Containers") or {}
    for container in found:
        lifecycle.disconnect(docker, container, seen["Id"], force=True)
    return sorted(str(one.get("Name")) for one in found.values())
