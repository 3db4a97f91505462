"""Functions of ``firewalld`` for open and forwarded ports of a zone."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.firewalld.lists import change, list_values
from saltern.modules.functions.firewalld.zones import add_masquerade, get_masquerade
from saltern.modules.lib.firewalls.zone_values import forward, forward_option


def _ensure_masquerade(ctx: Context, zone: str, wanted: bool) -> None:
    if wanted and not get_masquerade(ctx, zone):
        add_masquerade(ctx, zone)


@function
def list_ports(ctx: Context, zone: str, permanent: bool = True) -> list[str]:
    """The ports of a zone.

    Args:
        zone: the zone.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.list_ports public
        ```
    """
    return list_values(ctx, zone, "ports", permanent)


@function
def add_port(
    ctx: Context, zone: str, port: str, permanent: bool = True, force_masquerade: bool = False
) -> str:
    """Add a port to a zone.

    Args:
        zone: the zone.
        port: the port.
        permanent: use the configuration; false for the rules in force.
        force_masquerade: also enable masquerading for the zone.

    Example:
        ```console
        $ saltern call firewalld.add_port public 8080/tcp
        ```
    """
    _ensure_masquerade(ctx, zone, force_masquerade)
    return change(ctx, zone, ("add", "ports", port), permanent)


@function
def remove_port(ctx: Context, zone: str, port: str, permanent: bool = True) -> str:
    """Remove a port from a zone.

    Args:
        zone: the zone.
        port: the port.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.remove_port public 8080/tcp
        ```
    """
    return change(ctx, zone, ("remove", "ports", port), permanent)


@function
def list_port_fwd(ctx: Context, zone: str, permanent: bool = True) -> list[dict[str, str]]:
    """The forwarded ports of a zone.

    Args:
        zone: the zone.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.list_port_fwd public
        ```
    """
    return [forward(one) for one in list_values(ctx, zone, "port_fwd", permanent)]


@function
def add_port_fwd(
    ctx: Context,
    zone: str,
    src: str,
    dest: str,
    proto: str = "tcp",
    dstaddr: str = "",
    permanent: bool = True,
    force_masquerade: bool = False,
) -> str:
    """Forward a port.

    Args:
        zone: the zone.
        src: the port.
        dest: the destination port.
        proto: the protocol.
        dstaddr: the destination address; this machine if empty.
        permanent: use the configuration; false for the rules in force.
        force_masquerade: also enable masquerading for the zone.

    Example:
        ```console
        $ saltern call firewalld.add_port_fwd public 80 8080 tcp
        ```
    """
    _ensure_masquerade(ctx, zone, force_masquerade)
    which = forward_option(f"{src}:{dest}:{proto}:{dstaddr}")
    return change(ctx, zone, ("add", "port_fwd", which), permanent)


@function
def remove_port_fwd(
    ctx: Context,
    zone: str,
    src: str,
    dest: str,
    proto: str = "tcp",
    dstaddr: str = "",
    permanent: bool = True,
) -> str:
    """Stop forwarding a port.

    Args:
        zone: the zone.
        src: the port.
        dest: the destination port.
        proto: the protocol.
        dstaddr: the destination address; this machine if empty.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.remove_port_fwd public 80 8080 tcp
        ```
    """
    which = forward_option(f"{src}:{dest}:{proto}:{dstaddr}")
    return change(ctx, zone, ("remove", "port_fwd", which), permanent)
