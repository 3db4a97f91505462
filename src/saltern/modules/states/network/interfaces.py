"""``network.managed``."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.networking import checks, links, names
from saltern.modules.lib.networking.model import DesiredInterface, Networking, difference, shown_lines
from saltern.modules.lib.networking.providers import choose_networking

UNMOVED = ("slave", "teamport", "source")  # brought up with their master


@state
def managed(
    ctx: Context,
    /,
    name: str,
    *,
    enabled: bool = True,
    type: str = "eth",
    proto: str | None = None,
    ipaddr: str | None = None,
    ipaddrs: list[str] | None = None,
    netmask: str | None = None,
    gateway: str | None = None,
    dns: list[str] | None = None,
    search: list[str] | None = None,
    mtu: int | None = None,
    hwaddr: str | None = None,
    enable_ipv6: bool | None = None,
    ipv6proto: str | None = None,
    ipv6addr: str | None = None,
    ipv6addrs: list[str] | None = None,
    ipv6netmask: str | None = None,
    ipv6gateway: str | None = None,
    ports: object = None,
    slaves: object = None,
    master: str | None = None,
    mode: str | None = None,
    hotplug: bool | None = None,
    filename: str | None = None,
    noifupdown: bool = False,
    **settings: object,
) -> Result:
    """Configure an interface in the files of the system, and bring it up or down.

    Debian's ifupdown and the ifcfg files of Red Hat are supported. Other interfaces and comments in the same
    file stay unchanged. Programs for bridges and bonds (bridge-utils, ifenslave) are not installed.

    Args:
        name: the interface.
        enabled: bring it up now and at boot; false takes it down.
        type: ``eth``, ``bond``, ``bridge``, ``vlan``, ``slave`` (of a bond) or ``alias``; on Debian also
            ``source``, on Red Hat ``ib``, ``ipip``, ``team`` and ``teamport``.
        proto: how it gets its address: ``static`` (Red Hat's ``none``), ``dhcp``, ``manual``, ``loopback`` …
        ipaddr: its address.
        ipaddrs: further addresses, each with its prefix length.
        netmask: the netmask, or the prefix length.
        gateway: the default gateway.
        dns: name servers.
        search: domains to search for names.
        mtu: the MTU: the largest packet size.
        hwaddr: the MAC address; on Red Hat also ``auto`` and ``none``.
        enable_ipv6: whether to use IPv6, too.
        ipv6proto: how it gets its IPv6 address: ``static``, ``auto``, ``dhcp``, ``manual`` …
        ipv6addr: its IPv6 address.
        ipv6addrs: further IPv6 addresses.
        ipv6netmask: the prefix length.
        ipv6gateway: the default gateway for IPv6.
        ports: the interfaces of a bridge.
        slaves: the interfaces of a bond.
        master: the bond of a slave.
        mode: the mode of a bond, by name or number.
        hotplug: Debian: bring it up when it appears.
        filename: Debian: the file to write, in /etc/network/interfaces.d.
        noifupdown: only write the files.
        settings: further settings by Salt's names: the options of bonds (``miimon``, ``lacp_rate`` …) and
            bridges (``stp``, ``fd`` …), of the card (``autoneg``, ``duplex``, ``speed``, ``rx`` …), commands
            (``up_cmds``, ``pre_up_cmds`` …), ``ipv4…`` and ``ipv6…`` for one family, and those of ifcfg files
            (``userctl``, ``peerdns``, ``defroute``, ``nm_controlled``, ``zone`` …).

    Example:
        ```yaml
        saltern0:
          network.managed:
            - enabled: true
            - proto: static
            - ipaddr: 192.168.77.10
            - netmask: 255.255.255.0
            - dns: [192.168.77.1]
            - noifupdown: true
        ```
    """
    named: Mapping[str, object] = {
        "proto": proto,
        "ipaddr": ipaddr,
        "ipaddrs": ipaddrs,
        "netmask": netmask,
        "gateway": gateway,
        "dns": dns,
        "search": search,
        "mtu": mtu,
        "hwaddr": hwaddr,
        "enable_ipv6": enable_ipv6,
        "ipv6proto": ipv6proto,
        "ipv6addr": ipv6addr,
        "ipv6addrs": ipv6addrs,
        "ipv6netmask": ipv6netmask,
        "ipv6gateway": ipv6gateway,
        "ports": ports,
        "slaves": slaves,
        "master": master,
        "mode": mode,
        "hotplug": hotplug,
        "filename": filename,
    }
    warnings: tuple[str, ...] = ()
    if "addr" in settings:
        warnings = ("addr is not a setting; its value is used as hwaddr: rename it",)
        named = {**named, "hwaddr": hwaddr or settings.pop("addr")}
    names.check(settings)
    given = {key: value for key, value in {**settings, **named}.items() if value is not None}
    want = DesiredInterface(checks.interface(name), type.lower(), enabled, given)
    return _bring(
        ctx,
        choose_networking(ctx),
        want,
        moved=not noifupdown and want.kind not in UNMOVED,
        warnings=warnings,
    )


def _bring(
    ctx: Context, net: Networking, want: DesiredInterface, *, moved: bool, warnings: tuple[str, ...]
) -> Result:
    name = want.name

    def differs() -> Changes:
        old, new = net.interface_lines(name, want.kind), net.wanted_interface(want)
        changes: Changes = {}
        if old != new:
            changes["interface"] = difference(old, new) if old else "Added network interface."
        if moved and (status := _status(name, links.is_up(ctx, name), want.enabled, bool(changes))):
            changes["status"] = status
        return changes

    def act(changes: Changes) -> None:
        if "status" in changes and links.is_up(ctx, name) and "-range" not in name:
            net.down(name)  # with its old settings
        if "interface" in changes:
            net.store_interface(want, net.wanted_interface(want))
        if "status" in changes and want.enabled:
            net.restart() if "-range" in name else net.up(name)
        ctx.run.context.pop("network.addresses", None)
        ctx.run.refresh(frozenset({"grains"}))

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(ctx, net, want),
        words=Words(
            f"Interface {name} is up to date",
            f"Interface {name} would be changed",
            f"Interface {name} was changed",
        ),
        warnings=warnings,
    )


def _status(name: str, up: bool, enabled: bool, changed: bool) -> str:
    """What happens to the interface itself; empty if nothing does."""
    if "-range" in name:  # a range of addresses on Red Hat: not a separate interface
        return "network restarted for change of ranged interfaces" if changed and enabled else ""
    if not enabled:
        return f"Interface {name} down" if up else ""
    if not up:
        return f"Interface {name} is up"
    return f"Interface {name} restart to validate" if changed else ""


def _facts(ctx: Context, net: Networking, want: DesiredInterface) -> Changes:
    found = links.links(ctx).get(want.name)
    return {
        "name": want.name,
        "configuration": shown_lines(net.interface_lines(want.name, want.kind)),
        "exists": found is not None,
        "up": found is not None and found.up,
        "mtu": found.mtu if found else None,
    }
