"""``ip``: the configuration files of interfaces, routes and host names."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.networking import checks, names
from saltern.modules.lib.networking.model import DesiredInterface, route, store_routes
from saltern.modules.lib.networking.providers import choose_networking

UNMOVED = ("slave", "teamport", "source")


@function
def get_interface(ctx: Context, iface: str) -> list[str]:
    """The lines of the configuration of an interface.

    Args:
        iface: the interface.

    Example:
        ```console
        $ saltern call ip.get_interface eth0
        ```
    """
    return choose_networking(ctx).interface_lines(checks.interface(iface))


@function
def build_interface(
    ctx: Context, /, iface: str, iface_type: str, enabled: bool, test: bool = False, **settings: object
) -> list[str]:
    """Write the settings of an interface. Returns the new lines.

    Args:
        iface: the interface.
        iface_type: its type, as in the state ``network.managed``.
        enabled: bring it up at boot.
        test: only return the lines.
        settings: its settings, as in the state ``network.managed``.

    Example:
        ```console
        $ saltern call ip.build_interface eth0 eth True proto=dhcp test=True
        ```
    """
    names.check(settings)
    want = DesiredInterface(
        checks.interface(iface), iface_type.lower(), checks.is_on("enabled", enabled), settings
    )
    net = choose_networking(ctx)
    lines = net.wanted_interface(want)
    if not test and lines != net.interface_lines(iface, want.kind):
        net.store_interface(want, lines)
    return lines


@function
def up(ctx: Context, iface: str, iface_type: str = "eth") -> str | None:
    """Bring an interface up. Returns the output of ``ifup``.

    Args:
        iface: the interface.
        iface_type: its type; nothing is done for a slave, which comes up with its bond.

    Example:
        ```console
        $ saltern call ip.up lo
        ```
    """
    return None if iface_type.lower() in UNMOVED else choose_networking(ctx).up(checks.interface(iface))


@function
def down(ctx: Context, iface: str, iface_type: str = "eth") -> str | None:
    """Take an interface down. Returns the output of ``ifdown``.

    Args:
        iface: the interface.
        iface_type: its type; nothing is done for a slave, which goes down with its bond.

    Example:
        ```console
        $ saltern call ip.down lo
        ```
    """
    return None if iface_type.lower() in UNMOVED else choose_networking(ctx).down(checks.interface(iface))


@function
def get_routes(ctx: Context, iface: str) -> list[str]:
    """The lines of the route files of an interface.

    Args:
        iface: the interface.

    Example:
        ```console
        $ saltern call ip.get_routes eth0
        ```
    """
    paths = choose_networking(ctx).route_files(checks.interface(iface))
    return [line for path in paths for line in (ctx.host.read(path) or "").splitlines()]


@function
def build_routes(
    ctx: Context, /, iface: str, routes: object = None, test: bool = False, **_: object
) -> list[str]:
    """Write the routes of an interface. Returns the lines of their files.

    Args:
        iface: the interface.
        routes: a list of mappings, as in the state ``network.routes``.
        test: only return the lines.

    Example:
        ```console
        $ saltern call ip.build_routes eth0 routes='[{ipaddr: 10.2.0.0, netmask: 24, gateway: 10.0.0.1}]'
        ```
    """
    if not isinstance(routes, list):
        raise Refused("routes needs a list of mappings with ipaddr, netmask and gateway")
    wanted = choose_networking(ctx).wanted_routes(checks.interface(iface), [route(one) for one in routes])
    if not test:
        store_routes(ctx, wanted)
    return [line for text in wanted.values() for line in text.splitlines()]


@function
def get_network_settings(ctx: Context) -> list[str]:
    """The settings of the whole machine, one per line.

    Example:
        ```console
        $ saltern call ip.get_network_settings
        ```
    """
    return choose_networking(ctx).settings_lines()


@function
def build_network_settings(ctx: Context, /, test: bool = False, **settings: object) -> list[str]:
    """Write the settings of the whole machine. Returns the new settings, one per line.

    Args:
        test: only return the lines.
        settings: as in the state ``network.system``.

    Example:
        ```console
        $ saltern call ip.build_network_settings hostname=web1.example.org test=True
        ```
    """
    net = choose_networking(ctx)
    lines = net.wanted_settings(settings)
    if not test and lines != net.settings_lines():
        net.store_settings(lines)
    return lines


@function
def apply_network_settings(
    ctx: Context,
    /,
    require_reboot: bool = False,
    apply_hostname: bool = False,
    hostname: str | None = None,
    **_: object,
) -> bool:
    """Apply the written settings: restart the network.

    Args:
        require_reboot: do not restart it; they apply at the next boot.
        apply_hostname: set the name of the machine to ``hostname`` now.
        hostname: that name.

    Example:
        ```console
        $ saltern call ip.apply_network_settings require_reboot=True
        ```
    """
    if apply_hostname:
        if not hostname:
            raise Refused("apply_hostname needs a hostname to apply")
        from saltern.modules.lib.networking import machine_name, resolver

        machine_name.rename(ctx, resolver.host_name(hostname).partition(".")[0], hostname)
    if not require_reboot:
        choose_networking(ctx).restart()
    return True
