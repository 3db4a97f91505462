"""``network.system``."""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.networking import machine_name, resolver
from saltern.modules.lib.networking.model import difference
from saltern.modules.lib.networking.providers import choose_networking


@state
def system(
    ctx: Context,
    name: str,  # noqa: ARG001 - any name will do
    *,
    enabled: bool | None = None,
    hostname: str | None = None,
    apply_hostname: bool = False,
    search: list[str] | None = None,
    gateway: str | None = None,
    gatewaydev: str | None = None,
    nisdomain: str | None = None,
    nozeroconf: bool | None = None,
    networking_ipv6: bool | None = None,
    networkdelay: int | None = None,
    devtimeout: int | None = None,
    enable_ipv6: bool | None = None,
    ipv6gateway: str | None = None,
    require_reboot: bool = False,
    retain_settings: bool = False,
) -> Result:
    """Set the network settings of the whole machine: its name, its domain, and whether the network starts at
    boot.

    On Debian these are /etc/hostname, /etc/resolv.conf and /etc/default/networking, and nothing is
    restarted; on Red Hat /etc/sysconfig/network.

    Args:
        name: any text.
        enabled: bring interfaces up at boot.
        hostname: the name of the machine; the part after the first dot is its domain.
        apply_hostname: set that name on the running machine, too.
        search: Debian: domains to search for names.
        gateway: Red Hat: the default gateway.
        gatewaydev: Red Hat: the interface of the default gateway.
        nisdomain: Red Hat: the NIS domain.
        nozeroconf: Red Hat: do not use addresses of 169.254.0.0/16.
        networking_ipv6: Red Hat: use IPv6.
        networkdelay: Red Hat: how many seconds to wait for the network.
        devtimeout: Red Hat: how many seconds to wait for a device.
        enable_ipv6: Red Hat: configure interfaces for IPv6.
        ipv6gateway: Red Hat: the default gateway for IPv6.
        require_reboot: Red Hat: only write the file; do not restart the network.
        retain_settings: Red Hat: keep other settings of the file.

    Example:
        ```yaml
        the machine:
          network.system:
            - enabled: true
            - hostname: web1.example.org
        ```
    """
    if apply_hostname and not hostname:
        raise Refused("apply_hostname needs a hostname to apply")
    short = resolver.host_name(hostname).partition(".")[0] if hostname else ""
    net = choose_networking(ctx)
    given: dict[str, object] = {
        "enabled": enabled,
        "hostname": hostname,
        "search": search,
        "gateway": gateway,
        "gatewaydev": gatewaydev,
        "nisdomain": nisdomain,
        "nozeroconf": nozeroconf,
        "networking_ipv6": networking_ipv6,
        "networkdelay": networkdelay,
        "devtimeout": devtimeout,
        "enable_ipv6": enable_ipv6,
        "ipv6gateway": ipv6gateway,
        "retain_settings": retain_settings,
    }

    def differs() -> Changes:
        old, new = net.settings_lines(), net.wanted_settings(given)
        changes: Changes = {}
        if old != new:
            changes["network_settings"] = difference(old, new) if old else "Added global network settings."
        if apply_hostname and os.uname().nodename.partition(".")[0] != short:
            changes["hostname"] = {"old": os.uname().nodename, "new": short}
        return changes

    def act(changes: Changes) -> None:
        if "network_settings" in changes:
            net.store_settings(net.wanted_settings(given))
        if "hostname" in changes:
            machine_name.rename(ctx, short, hostname or short)
        if "network_settings" in changes and not require_reboot and ctx.grains.get("os_family") == "RedHat":
            net.restart()

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: {"settings": net.settings_lines(), "hostname": os.uname().nodename},
        words=Words(
            "Global network settings are up to date",
            "Global network settings would be changed",
            "Global network settings were changed",
        ),
    )
