"""Functions of ``firewalld`` for zones as a whole."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.firewalld.daemon import ask, of_zone, reload_if
from saltern.modules.lib.firewalls import firewalld
from saltern.modules.lib.firewalls.firewalld import Sections


@function
def version(ctx: Context) -> str:
    """The version of firewalld.

    Example:
        ```console
        $ saltern call firewalld.version
        ```
    """
    daemon = firewalld.reach(ctx)
    return daemon.either(ctx, "--version")


@function
def reload_rules(ctx: Context) -> str:
    """Load the permanent configuration.

    Example:
        ```console
        $ saltern call firewalld.reload_rules
        ```
    """
    return ask(ctx, "--reload", permanent=False)


@function
def make_permanent(ctx: Context) -> str:
    """Save the rules in force as the permanent configuration.

    Example:
        ```console
        $ saltern call firewalld.make_permanent
        ```
    """
    return ask(ctx, "--runtime-to-permanent", permanent=False)


@function
def default_zone(ctx: Context) -> str:
    """The default zone.

    Example:
        ```console
        $ saltern call firewalld.default_zone
        ```
    """
    return firewalld.reach(ctx).either(ctx, "--get-default-zone")


@function
def set_default_zone(ctx: Context, zone: str) -> str:
    """Set the default zone.

    Args:
        zone: the zone.

    Example:
        ```console
        $ saltern call firewalld.set_default_zone home
        ```
    """
    return firewalld.reach(ctx).either(ctx, f"--set-default-zone={firewalld.check_name(zone, 'a zone')}")


@function
def list_zones(ctx: Context, permanent: bool = True) -> Sections:
    """The contents of all zones.

    Args:
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.list_zones
        ```
    """
    return firewalld.sections(ask(ctx, "--list-all-zones", permanent=permanent))


@function
def get_zones(ctx: Context, permanent: bool = True) -> list[str]:
    """The names of all zones.

    Args:
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.get_zones
        ```
    """
    return ask(ctx, "--get-zones", permanent=permanent).split()


@function
def new_zone(ctx: Context, zone: str, restart: bool = True) -> str:
    """Create a zone.

    Args:
        zone: the zone.
        restart: load the configuration afterwards.

    Example:
        ```console
        $ saltern call firewalld.new_zone saltern
        ```
    """
    said = ask(ctx, f"--new-zone={firewalld.check_name(zone, 'a zone')}", permanent=True)
    reload_if(ctx, restart)
    return said


@function
def delete_zone(ctx: Context, zone: str, restart: bool = True) -> str:
    """Delete a zone.

    Args:
        zone: the zone.
        restart: load the configuration afterwards.

    Example:
        ```console
        $ saltern call firewalld.delete_zone saltern
        ```
    """
    said = ask(ctx, f"--delete-zone={firewalld.check_name(zone, 'a zone')}", permanent=True)
    reload_if(ctx, restart)
    return said


@function
def list_all(ctx: Context, zone: str | None = None, permanent: bool = True) -> Sections:
    """The contents of a zone.

    Args:
        zone: the zone; the default one if not given.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.list_all public
        ```
    """
    return firewalld.sections(ask(ctx, *of_zone(zone), "--list-all", permanent=permanent))


@function
def get_icmp_types(ctx: Context, permanent: bool = True) -> list[str]:
    """The ICMP types that can be blocked.

    Args:
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.get_icmp_types
        ```
    """
    return ask(ctx, "--get-icmptypes", permanent=permanent).split()


@function
def get_masquerade(ctx: Context, zone: str | None = None, permanent: bool = True) -> bool:
    """True if a zone masquerades.

    Args:
        zone: the zone; the default one if not given.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.get_masquerade public
        ```
    """
    found = list_all(ctx, zone, permanent).values()
    return all(one.get("masquerade") == ["yes"] for one in found)


@function
def add_masquerade(ctx: Context, zone: str | None = None, permanent: bool = True) -> str:
    """Enable masquerading for a zone.

    Args:
        zone: the zone; the default one if not given.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.add_masquerade public
        ```
    """
    return ask(ctx, *of_zone(zone), "--add-masquerade", permanent=permanent)


@function
def remove_masquerade(ctx: Context, zone: str | None = None, permanent: bool = True) -> str:
    """Disable masquerading for a zone.

    Args:
        zone: the zone; the default one if not given.
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.remove_masquerade public
        ```
    """
    return ask(ctx, *of_zone(zone), "--remove-masquerade", permanent=permanent)
