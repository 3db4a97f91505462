"""Functions of ``firewalld`` for what belongs to a zone."""

from __future__ import annotations

from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.firewalls.firewalld import KINDS, value, values
from saltern.modules.firewalls.zone_values import forward, forward_option
from saltern.modules.functions.firewalld.asking import ask, of_zone
from saltern.modules.functions.firewalld.zones import add_masquerade, get_icmp_types, get_masquerade


def _list(ctx: Context, zone: str | None, arg: str, permanent: bool) -> list[str]:
    kind = KINDS[arg]
    said = ask(ctx, *of_zone(zone), f"--list-{kind.listed.replace(' ', '-')}", permanent=permanent)
    return values(said.splitlines(), kind)


def _change(ctx: Context, zone: str | None, what: tuple[str, str, str], permanent: bool) -> str:
    """``what``: add or remove, the kind, and which."""
    verb, arg, which = what
    option = f"--{verb}-{KINDS[arg].option}={value(which, arg)}"
    return ask(ctx, *of_zone(zone), option, permanent=permanent)


def _masquerading(ctx: Context, zone: str, wanted: bool) -> None:
    if wanted and not get_masquerade(ctx, zone):
        add_masquerade(ctx, zone)


@function
def list_ports(ctx: Context, zone: str, permanent: bool = True) -> list[str]:
    """The ports of a zone.

    Args:
        zone: the zone.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.list_ports public
        ```
    """
    return _list(ctx, zone, "ports", permanent)


@function
def add_port(
    ctx: Context, zone: str, port: str, permanent: bool = True, force_masquerade: bool = False
) -> str:
    """Add a port to a zone.

    Args:
        zone: the zone.
        port: the port.
        permanent: the configuration; false for what is in force.
        force_masquerade: let the zone masquerade as well.

    Example:
        ```console
        $ saltern call firewalld.add_port public 8080/tcp
        ```
    """
    _masquerading(ctx, zone, force_masquerade)
    return _change(ctx, zone, ("add", "ports", port), permanent)


@function
def remove_port(ctx: Context, zone: str, port: str, permanent: bool = True) -> str:
    """Remove a port from a zone.

    Args:
        zone: the zone.
        port: the port.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.remove_port public 8080/tcp
        ```
    """
    return _change(ctx, zone, ("remove", "ports", port), permanent)


@function
def list_port_fwd(ctx: Context, zone: str, permanent: bool = True) -> list[dict[str, str]]:
    """What a zone forwards.

    Args:
        zone: the zone.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.list_port_fwd public
        ```
    """
    return [forward(one) for one in _list(ctx, zone, "port_fwd", permanent)]


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
        dest: the port it goes to.
        proto: the protocol.
        dstaddr: the address it goes to; this machine if empty.
        permanent: the configuration; false for what is in force.
        force_masquerade: let the zone masquerade as well.

    Example:
        ```console
        $ saltern call firewalld.add_port_fwd public 80 8080 tcp
        ```
    """
    _masquerading(ctx, zone, force_masquerade)
    which = forward_option(f"{src}:{dest}:{proto}:{dstaddr}")
    return _change(ctx, zone, ("add", "port_fwd", which), permanent)


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
    """Forward a port no more.

    Args:
        zone: the zone.
        src: the port.
        dest: the port it goes to.
        proto: the protocol.
        dstaddr: the address it goes to; this machine if empty.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.remove_port_fwd public 80 8080 tcp
        ```
    """
    which = forward_option(f"{src}:{dest}:{proto}:{dstaddr}")
    return _change(ctx, zone, ("remove", "port_fwd", which), permanent)


@function
def list_icmp_block(ctx: Context, zone: str, permanent: bool = True) -> list[str]:
    """The types of ICMP that a zone blocks.

    Args:
        zone: the zone.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.list_icmp_block public
        ```
    """
    return _list(ctx, zone, "block_icmp", permanent)


@function
def block_icmp(ctx: Context, zone: str, icmp: str, permanent: bool = True) -> str | bool:
    """Block a type of ICMP; false if there is no such type.

    Args:
        zone: the zone.
        icmp: the type.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.block_icmp public echo-reply
        ```
    """
    if icmp not in get_icmp_types(ctx, permanent):
        return False
    return _change(ctx, zone, ("add", "block_icmp", icmp), permanent)


@function
def allow_icmp(ctx: Context, zone: str, icmp: str, permanent: bool = True) -> str | bool:
    """Block a type of ICMP no more; false if there is no such type.

    Args:
        zone: the zone.
        icmp: the type.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.allow_icmp public echo-reply
        ```
    """
    if icmp not in get_icmp_types(ctx, permanent):
        return False
    return _change(ctx, zone, ("remove", "block_icmp", icmp), permanent)


@function
def get_interfaces(ctx: Context, zone: str, permanent: bool = True) -> list[str]:
    """The interfaces of a zone.

    Args:
        zone: the zone.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.get_interfaces public
        ```
    """
    return _list(ctx, zone, "interfaces", permanent)


@function
def add_interface(ctx: Context, zone: str, interface: str, permanent: bool = True) -> str:
    """Add an interface to a zone.

    Args:
        zone: the zone.
        interface: the interface.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.add_interface public eth9
        ```
    """
    return _change(ctx, zone, ("add", "interfaces", interface), permanent)


@function
def remove_interface(ctx: Context, zone: str, interface: str, permanent: bool = True) -> str:
    """Remove an interface from a zone.

    Args:
        zone: the zone.
        interface: the interface.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.remove_interface public eth9
        ```
    """
    return _change(ctx, zone, ("remove", "interfaces", interface), permanent)


@function
def get_sources(ctx: Context, zone: str, permanent: bool = True) -> list[str]:
    """The sources of a zone.

    Args:
        zone: the zone.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.get_sources public
        ```
    """
    return _list(ctx, zone, "sources", permanent)


@function
def add_source(ctx: Context, zone: str, source: str, permanent: bool = True) -> str:
    """Add a source to a zone.

    Args:
        zone: the zone.
        source: the source.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.add_source public 10.9.0.0/16
        ```
    """
    return _change(ctx, zone, ("add", "sources", source), permanent)


@function
def remove_source(ctx: Context, zone: str, source: str, permanent: bool = True) -> str:
    """Remove a source from a zone.

    Args:
        zone: the zone.
        source: the source.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.remove_source public 10.9.0.0/16
        ```
    """
    return _change(ctx, zone, ("remove", "sources", source), permanent)


@function
def get_rich_rules(ctx: Context, zone: str, permanent: bool = True) -> list[str]:
    """The rich rules of a zone.

    Args:
        zone: the zone.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.get_rich_rules public
        ```
    """
    return _list(ctx, zone, "rich_rules", permanent)


@function
def add_rich_rule(ctx: Context, zone: str, rule: str, permanent: bool = True) -> str:
    """Add a rich rule to a zone.

    Args:
        zone: the zone.
        rule: the rich rule.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.add_rich_rule public 'rule service name="ssh" accept'
        ```
    """
    return _change(ctx, zone, ("add", "rich_rules", rule), permanent)


@function
def remove_rich_rule(ctx: Context, zone: str, rule: str, permanent: bool = True) -> str:
    """Remove a rich rule from a zone.

    Args:
        zone: the zone.
        rule: the rich rule.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.remove_rich_rule public 'rule service name="ssh" accept'
        ```
    """
    return _change(ctx, zone, ("remove", "rich_rules", rule), permanent)


@function
def list_services(ctx: Context, zone: str | None = None, permanent: bool = True) -> list[str]:
    """The services of a zone.

    Args:
        zone: the zone; the default one if not given.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.list_services public
        ```
    """
    return _list(ctx, zone, "services", permanent)


@function
def add_service(ctx: Context, service: str, zone: str | None = None, permanent: bool = True) -> str:
    """Add a service to a zone.

    Args:
        service: the service.
        zone: the zone; the default one if not given.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.add_service http public
        ```
    """
    return _change(ctx, zone, ("add", "services", service), permanent)


@function
def remove_service(ctx: Context, service: str, zone: str | None = None, permanent: bool = True) -> str:
    """Remove a service from a zone.

    Args:
        service: the service.
        zone: the zone; the default one if not given.
        permanent: the configuration; false for what is in force.

    Example:
        ```console
        $ saltern call firewalld.remove_service http public
        ```
    """
    return _change(ctx, zone, ("remove", "services", service), permanent)
