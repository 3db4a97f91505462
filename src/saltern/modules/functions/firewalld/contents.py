"""Functions of ``firewalld`` for the contents of a zone, except ports."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.firewalld.lists import change, list_values
from saltern.modules.functions.firewalld.zones import get_icmp_types


@function
def list_icmp_block(ctx: Context, zone: str, permanent: bool = True) -> list[str]:
    """The ICMP types that a zone blocks.

    Args:
        zone: the zone.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.list_icmp_block public
        ```
    """
    return list_values(ctx, zone, "block_icmp", permanent)


@function
def block_icmp(ctx: Context, zone: str, icmp: str, permanent: bool = True) -> str | bool:
    """Block an ICMP type; false if there is no such type.

    Args:
        zone: the zone.
        icmp: the type.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.block_icmp public echo-reply
        ```
    """
    if icmp not in get_icmp_types(ctx, permanent):
        return False
    return change(ctx, zone, ("add", "block_icmp", icmp), permanent)


@function
def allow_icmp(ctx: Context, zone: str, icmp: str, permanent: bool = True) -> str | bool:
    """Stop blocking an ICMP type; false if there is no such type.

    Args:
        zone: the zone.
        icmp: the type.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.allow_icmp public echo-reply
        ```
    """
    if icmp not in get_icmp_types(ctx, permanent):
        return False
    return change(ctx, zone, ("remove", "block_icmp", icmp), permanent)


@function
def get_interfaces(ctx: Context, zone: str, permanent: bool = True) -> list[str]:
    """The interfaces of a zone.

    Args:
        zone: the zone.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.get_interfaces public
        ```
    """
    return list_values(ctx, zone, "interfaces", permanent)


@function
def add_interface(ctx: Context, zone: str, interface: str, permanent: bool = True) -> str:
    """Add an interface to a zone.

    Args:
        zone: the zone.
        interface: the interface.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.add_interface public eth9
        ```
    """
    return change(ctx, zone, ("add", "interfaces", interface), permanent)


@function
def remove_interface(ctx: Context, zone: str, interface: str, permanent: bool = True) -> str:
    """Remove an interface from a zone.

    Args:
        zone: the zone.
        interface: the interface.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.remove_interface public eth9
        ```
    """
    return change(ctx, zone, ("remove", "interfaces", interface), permanent)


@function
def get_sources(ctx: Context, zone: str, permanent: bool = True) -> list[str]:
    """The sources of a zone.

    Args:
        zone: the zone.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.get_sources public
        ```
    """
    return list_values(ctx, zone, "sources", permanent)


@function
def add_source(ctx: Context, zone: str, source: str, permanent: bool = True) -> str:
    """Add a source to a zone.

    Args:
        zone: the zone.
        source: the source.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.add_source public 10.9.0.0/16
        ```
    """
    return change(ctx, zone, ("add", "sources", source), permanent)


@function
def remove_source(ctx: Context, zone: str, source: str, permanent: bool = True) -> str:
    """Remove a source from a zone.

    Args:
        zone: the zone.
        source: the source.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.remove_source public 10.9.0.0/16
        ```
    """
    return change(ctx, zone, ("remove", "sources", source), permanent)


@function
def get_rich_rules(ctx: Context, zone: str, permanent: bool = True) -> list[str]:
    """The rich rules of a zone.

    Args:
        zone: the zone.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.get_rich_rules public
        ```
    """
    return list_values(ctx, zone, "rich_rules", permanent)


@function
def add_rich_rule(ctx: Context, zone: str, rule: str, permanent: bool = True) -> str:
    """Add a rich rule to a zone.

    Args:
        zone: the zone.
        rule: the rich rule.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.add_rich_rule public 'rule service name="ssh" accept'
        ```
    """
    return change(ctx, zone, ("add", "rich_rules", rule), permanent)


@function
def remove_rich_rule(ctx: Context, zone: str, rule: str, permanent: bool = True) -> str:
    """Remove a rich rule from a zone.

    Args:
        zone: the zone.
        rule: the rich rule.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.remove_rich_rule public 'rule service name="ssh" accept'
        ```
    """
    return change(ctx, zone, ("remove", "rich_rules", rule), permanent)


@function
def list_services(ctx: Context, zone: str | None = None, permanent: bool = True) -> list[str]:
    """The services of a zone.

    Args:
        zone: the zone; the default one if not given.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.list_services public
        ```
    """
    return list_values(ctx, zone, "services", permanent)


@function
def add_service(ctx: Context, service: str, zone: str | None = None, permanent: bool = True) -> str:
    """Add a service to a zone.

    Args:
        service: the service.
        zone: the zone; the default one if not given.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.add_service http public
        ```
    """
    return change(ctx, zone, ("add", "services", service), permanent)


@function
def remove_service(ctx: Context, service: str, zone: str | None = None, permanent: bool = True) -> str:
    """Remove a service from a zone.

    Args:
        service: the service.
        zone: the zone; the default one if not given.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.remove_service http public
        ```
    """
    return change(ctx, zone, ("remove", "services", service), permanent)
