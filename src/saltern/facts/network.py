"""Interfaces, addresses, gateways, name servers."""

from __future__ import annotations

import os

from msgspec import Struct, field

from saltern.config.settings import Settings
from saltern.facts import probe


class Interface(Struct):
    """One interface. ``others`` are further IPv4 addresses of the same network."""

    mac: str = ""
    inet: list[str] = field(default_factory=list)
    inet6: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


Interfaces = dict[str, Interface]


def addresses(_: Settings) -> dict[str, object]:
    found = interfaces()
    ipv4 = {address for each in found.values() for address in (*each.inet, *each.others)}
    ipv6 = {address for each in found.values() for address in each.inet6}
    return {
        "ip_interfaces": {name: each.inet + each.inet6 for name, each in found.items()},
        "ip4_interfaces": {name: each.inet for name, each in found.items()},
        "ip6_interfaces": {name: each.inet6 for name, each in found.items()},
        "hwaddr_interfaces": {name: each.mac for name, each in found.items() if each.mac},
        "ipv4": sorted(ipv4, key=_number),
        "ipv6": sorted(ipv6, key=_number),
    }


def _number(address: str) -> bytes:
    """The address as bytes, to sort addresses by value."""
    import socket

    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.inet_pton(family, address)


def interfaces() -> Interfaces:
    """All interfaces: from ``ip``, or psutil, or the kernel itself."""
    return from_ip(probe.output_of("ip", "-j", "addr")) or _from_psutil() or _from_kernel()


def from_ip(text: str) -> Interfaces:
    """Interfaces from the output of ``ip -j addr``."""
    import msgspec.json

    try:
        links = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return {}
    found: Interfaces = {}
    for link in links:
        name = link.get("ifname")
        if not name:
            continue
        each = found.setdefault(name, Interface(mac=link.get("address", "")))
        for info in link.get("addr_info", []):
            _add(each, info.get("family", ""), info.get("local", ""), bool(info.get("secondary")))
    return found


def _add(each: Interface, family: str, address: str, secondary: bool = False) -> None:
    if family == "inet6":
        each.inet6.append(address)
    elif family == "inet":
        (each.others if secondary else each.inet).append(address)


def _from_psutil() -> Interfaces:
    try:
        import psutil
    except ImportError:
        return {}
    found: Interfaces = {}
    for name, infos in psutil.net_if_addrs().items():
        each = found.setdefault(name, Interface())
        for info in infos:
            if info.family.name == "AF_INET":
                each.inet.append(info.address)
            elif info.family.name == "AF_INET6":
                each.inet6.append(info.address.partition("%")[0])
            else:
                each.mac = info.address
    return found


def _from_kernel() -> Interfaces:
    """Interfaces from the kernel alone: one IPv4 address each, and all IPv6 addresses."""
    import socket

    found = {
        name: Interface(mac=probe.line(f"/sys/class/net/{name}/address"))
        for _, name in sorted(socket.if_nameindex())
    }
    for name, each in found.items():
        if address := _ipv4(name):
            each.inet.append(address)
    for name, address in if_inet6(probe.read("/proc/net/if_inet6")):
        found.setdefault(name, Interface()).inet6.append(address)
    return found


def _ipv4(name: str) -> str:
    import fcntl
    import socket

    asked = name.encode()[:15].ljust(40, b"\0")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            answer = fcntl.ioctl(any_socket, 0x8915, asked)  # SIOCGIFADDR
        except OSError:
            return ""
    return socket.inet_ntoa(answer[20:24])


def if_inet6(text: str) -> list[tuple[str, str]]:
    """Interface and address of each line of /proc/net/if_inet6."""
    import socket

    lines = [line.split() for line in text.splitlines()]
    return [
        (words[5], socket.inet_ntop(socket.AF_INET6, bytes.fromhex(words[0])))
        for words in lines
        if len(words) == 6
    ]


def gateways(_: Settings) -> dict[str, object]:
    ip4 = gateway(probe.read("/proc/net/route"))
    ip6 = gateway6(probe.read("/proc/net/ipv6_route"))
    return {"ip4_gw": ip4, "ip6_gw": ip6, "ip_gw": bool(ip4 or ip6)}


def gateway(routes: str) -> str | bool:
    """The default gateway of /proc/net/route: an address, or whether there is one at all."""
    import socket

    best: tuple[int, str | bool] | None = None
    for line in routes.splitlines()[1:]:
        words = line.split()
        if len(words) < 8 or words[1] != "00000000" or words[7] != "00000000":
            continue
        address = socket.inet_ntoa(bytes.fromhex(words[2])[::-1])  # the bytes are in host order
        route = (int(words[6]), True if address == "0.0.0.0" else address)
        best = route if best is None or route[0] < best[0] else best
    return best[1] if best else False


def gateway6(routes: str) -> str | bool:
    """The same for /proc/net/ipv6_route; its unreachable default on ``lo`` does not count."""
    import socket

    best: tuple[int, str | bool] | None = None
    for line in routes.splitlines():
        words = line.split()
        if len(words) < 10 or words[0].strip("0") or words[1] != "00" or words[9] == "lo":
            continue
        address = socket.inet_ntop(socket.AF_INET6, bytes.fromhex(words[4]))
        route = (int(words[5], 16), True if address == "::" else address)
        best = route if best is None or route[0] < best[0] else best
    return best[1] if best else False


def dns(_: Settings) -> dict[str, object]:
    """Name servers, from systemd's own file first: /etc/resolv.conf would only name its stub."""
    own = "/run/systemd/resolve/resolv.conf"
    return {"dns": resolv(probe.read(own if os.path.exists(own) else "/etc/resolv.conf"))}


def resolv(text: str) -> dict[str, object]:
    """The content of resolv.conf; the later of ``domain`` and ``search`` counts."""
    found: dict[str, list[str]] = {
        "nameserver": [],
        "search": [],
        "domain": [],
        "sortlist": [],
        "options": [],
    }
    for line in text.splitlines():
        key, *values = line.split("#")[0].split(";")[0].split() or [""]
        if key in ("domain", "search"):
            found["domain"], found["search"] = [], []
        if key == "nameserver":
            found[key] += values[:1]
        elif key in found:
            found[key] = values
    servers = found["nameserver"]
    return {
        "nameservers": servers,
        "ip4_nameservers": [each for each in servers if ":" not in each],
        "ip6_nameservers": [each for each in servers if ":" in each],
        "sortlist": found["sortlist"],
        "domain": "".join(found["domain"][:1]),
        "search": found["search"],
        "options": found["options"],
    }
