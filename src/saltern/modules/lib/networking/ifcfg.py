"""Red Hat's files: /etc/sysconfig/network-scripts and /etc/sysconfig/network."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from saltern.modules.api.context import Context
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused, one_line
from saltern.modules.lib.networking import checks, ifcfg_options, resolver
from saltern.modules.lib.networking.model import DesiredInterface, Route

SCRIPTS = "/etc/sysconfig/network-scripts"
NETWORK = "/etc/sysconfig/network"
# Names of settings in the file of the whole machine, in their order.
SETTINGS = {
    "networking": "NETWORKING",
    "networking_ipv6": "NETWORKING_IPV6",
    "hostname": "HOSTNAME",
    "gateway": "GATEWAY",
    "gatewaydev": "GATEWAYDEV",
    "nisdomain": "NISDOMAIN",
    "networkdelay": "NETWORKDELAY",
    "devtimeout": "DEVTIMEOUT",
    "nozeroconf": "NOZEROCONF",
    "enable_ipv6": "IPV6INIT",
    "ipv6gateway": "IPV6_DEFAULTGW",
}
SWITCHES = frozenset({"networking", "networking_ipv6", "nozeroconf", "enable_ipv6"})


class Ifcfg:
    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def _lines(self, path: str) -> list[str]:
        return [line for line in (self._ctx.host.read(path) or "").splitlines() if line]

    # -- interfaces ---------------------------------------------------------------------------------

    def interface_lines(self, name: str, kind: str = "eth") -> list[str]:  # noqa: ARG002 - one kind of file
        return self._lines(f"{SCRIPTS}/ifcfg-{name}")

    def wanted_interface(self, want: DesiredInterface) -> list[str]:
        return ifcfg_options.lines(want, self._hardware(want.name))

    def _hardware(self, name: str) -> str:
        from saltern.modules.lib.networking.links import links

        found = links(self._ctx).get(name)
        return found.hardware if found else ""

    def store_interface(self, want: DesiredInterface, lines: Sequence[str]) -> None:
        self._ctx.host.makedirs(SCRIPTS)
        self._ctx.host.write(f"{SCRIPTS}/ifcfg-{want.name}", "\n".join([*lines, ""]))

    def up(self, name: str) -> str:
        return tool(self._ctx, "ifup", name).out

    def down(self, name: str) -> str:
        return tool(self._ctx, "ifdown", name).out

    def restart(self) -> None:
        release = str(self._ctx.grains.get("osmajorrelease", ""))
        modern = not release.isdecimal() or int(release) >= 8
        restart = self._ctx.functions["service.restart"]
        restart("NetworkManager" if modern else "network")

    # -- routes -------------------------------------------------------------------------------------

    def route_files(self, name: str) -> list[str]:
        return [f"{SCRIPTS}/route-{name}", f"{SCRIPTS}/route6-{name}"]

    def wanted_routes(self, name: str, routes: Sequence[Route]) -> dict[str, str]:
        texts = {4: "", 6: ""}
        for one in routes:
            way = f"via {one.gateway}" if one.gateway else f"dev {name}"
            metric = f" metric {one.metric}" if one.metric else ""
            label = f"# {one.label}\n" if one.label else ""
            texts[one.version] += f"{label}{one.network} {way}{metric}\n"
        return dict(zip(self.route_files(name), (texts[4], texts[6]), strict=True))

    # -- the machine --------------------------------------------------------------------------------

    def settings_lines(self) -> list[str]:
        return self._lines(NETWORK)

    def wanted_settings(self, settings: Mapping[str, object]) -> list[str]:
        """The new lines; other settings are dropped, as in Salt, unless ``retain_settings`` is set."""
        now = dict(line.split("=", 1) for line in self.settings_lines() if "=" in line)
        keep = checks.is_on("retain_settings", settings.get("retain_settings", False))
        found = dict(now) if keep else {}
        given = {**settings, "networking": settings.get("enabled")}
        for name, key in SETTINGS.items():
            if (value := given.get(name)) is not None:
                found[key] = checks.yes_no(name, value) if name in SWITCHES else _plain(name, value)
        found.setdefault("NETWORKING", now.get("NETWORKING", "yes"))
        host = found.setdefault("HOSTNAME", now.get("HOSTNAME") or os.uname().nodename)
        resolver.host_name(host.strip("\"'"))
        ordered = [*SETTINGS.values(), *(key for key in found if key not in SETTINGS.values())]
        return [f"{key}={found[key]}" for key in ordered if key in found]

    def store_settings(self, lines: Sequence[str]) -> None:
        self._ctx.host.makedirs(os.path.dirname(NETWORK))
        self._ctx.host.write(NETWORK, "\n".join([*lines, ""]))


def _plain(name: str, value: object) -> str:
    """A value that needs no quoting in the shell, which reads the file."""
    text = one_line(str(value), name)
    if (
        not text.replace(".", "")
        .replace(":", "")
        .replace("-", "")
        .replace("_", "")
        .replace("%", "")
        .isalnum()
    ):
        raise Refused(f"{name} cannot be {text!r}: the file is read by a shell")
    return text
