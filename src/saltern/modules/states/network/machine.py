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
from saltern.modules.lib.networking.providers import networking


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
    """Set what the network of the whole machine has: its name, its domain, whether it starts at boot.

    On Debian these are /etc/hostname, /etc/resolv.conf and /etc/default/networking, and nothing is
    restarted; on Red Hat /etc/sysconfig/network.

    Args:
        name: any name for it.
        enabled: bring interfaces up at boot.
        hostname: the name of the machine; what follows the first dot is its domain.
        apply_hostname: give the running machine that name, too.
        search: Debian: domains to search for names.
        gateway: Red Hat: where everything else is sent.
        gatewaydev: Red Hat: the interface to it.
        nisdomain: Red Hat: the NIS domain.
        nozeroconf: Red Hat: no addresses of 169.254.0.0/16.
        networking_ipv6: Red Hat: use IPv6.
        networkdelay: Red Hat: how many seconds to wait for the network.
        devtimeout: Red Hat: how many seconds to wait for a device.
        enable_ipv6: Red Hat: set interfaces up for IPv6.
        ipv6gateway: Red Hat: where everything else of IPv6 is sent.
        require_reboot: Red Hat: only write it; the network is not restarted.
        retain_settings: Red Hat: keep settings of the file that are not named here.

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
    net = networking(ctx)
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
