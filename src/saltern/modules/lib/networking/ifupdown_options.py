"""The settings of an interface in interfaces(5)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from saltern.modules.api.refused import Refused
from saltern.modules.lib.networking import bonds, checks
from saltern.modules.lib.networking.checks import Check, each, integer, mac, one_of, word
from saltern.modules.lib.networking.model import DesiredInterface

KINDS = ("eth", "bond", "bridge", "vlan", "slave", "alias", "source")
PROTOS = {
    "inet": ("static", "dhcp", "manual", "loopback", "bootp", "ppp", "none"),
    "inet6": ("static", "dhcp", "auto", "manual", "loopback", "v4tunnel", "6to4", "none"),
}


class Option(Struct, frozen=True):
    """One line of a stanza. A family without a check does not support it."""

    name: str
    inet: Check | None
    inet6: Check | None


def _both(name: str, check: Check = word) -> Option:
    return Option(name, check, check)


def _inet(name: str, check: Check = word) -> Option:
    return Option(name, check, None)


def _inet6(name: str, check: Check = word) -> Option:
    return Option(name, None, check)


TUNNELS = one_of("gre", "GRE", "ipip", "IPIP", "802.3ad")
# In Salt's order.
OPTIONS = (
    _inet6("autoconf", one_of("0", "1")),
    _inet6("privext", one_of("0", "1", "2")),
    _inet6("dhcp", one_of("0", "1")),
    _both("hwaddress", mac),
    _both("vlan-raw-device"),
    Option("address", checks.address4, checks.address6),
    Option("netmask", checks.netmask4, checks.netmask6),
    _inet("broadcast", checks.address4),
    _inet("metric", integer),
    Option("gateway", checks.address4, checks.address6),
    _inet("pointopoint", checks.address4),
    Option("scope", one_of("global", "link", "host"), one_of("global", "site", "link", "host")),
    _inet("hostname"),
    _inet6("media"),
    *(_inet(name, integer) for name in ("leasehours", "leasetime")),
    *(_inet(name) for name in ("vendor", "client", "bootfile")),
    _inet("server", checks.address4),
    _both("mode", TUNNELS),
    _both("endpoint", checks.address4),
    _inet("dstaddr", checks.address4),
    _both("local", checks.address4),
    _both("ttl", integer),
    _both("mtu", integer),
    _inet6("preferred-lifetime", integer),
    _inet6("dad-attempts", integer),
    _inet6("dad-interval", checks.number),
    _inet("provider"),
    _inet("unit", integer),
    _inet("options"),
    _both("bond-master", lambda _name, value: checks.interface(str(value))),
    _both("dns-nameservers", each(word)),
    _both("dns-search", each(word)),
    *(_both(f"wireless-{name}") for name in ("essid", "mode")),
    _both("wpa-ap-scan", one_of("0", "1", "2")),
    *(_both(f"wpa-{name}") for name in "conf driver group key-mgmt pairwise proto psk roam ssid".split()),  # noqa: SIM905
    _inet6("accept_ra", one_of("0", "1", "2")),
)
COMMANDS = ("up", "down", "pre-up", "post-up", "pre-down", "post-down")
ALIASES = {
    "ipaddr": "address",
    "addr": "address",
    "ipaddrs": "addresses",
    "addrs": "addresses",
    "ipaddresses": "addresses",
    "dns": "dns-nameservers",
    "search": "dns-search",
    "hwaddr": "hwaddress",
    "master": "bond-master",
    **{f"{name.replace('-', '_')}_cmds": name for name in COMMANDS},
}
INET_ONLY = frozenset({"address", "addresses", "gateway", "proto", "netmask"})
ETHTOOL = {
    "autoneg": ("ethernet-autoneg", checks.on_off),
    "duplex": ("link-duplex", one_of("full", "half")),
    "speed": ("link-speed", one_of("10", "100", "1000", "2500", "10000", "25000", "40000", "100000")),
    "wol": ("ethernet-wol", word),
    **{
        name: (f"offload-{name}", checks.on_off)
        for name in ("rx", "tx", "sg", "tso", "ufo", "gso", "gro", "lro")
    },
}


def _per_port(name: str, value: object) -> str:
    words = str(value).split()
    if len(words) != 2 or not words[1].isdecimal():
        raise Refused(f"{name} needs an interface and a number, got {value!r}")
    return " ".join(words)


BRIDGE: Mapping[str, Check] = {
    "ports": each(word),
    **dict.fromkeys(("ageing", "fd", "gcint", "hello", "maxage"), checks.number),
    **dict.fromkeys(("bridgeprio", "maxwait"), integer),
    "hw": mac,
    **dict.fromkeys(("pathcost", "portprio"), _per_port),
    "stp": checks.on_off,
    "vlan_aware": checks.yes_no,
    "waitport": word,
}
NEEDED = {"bond": "slaves", "bridge": "ports", "slave": "master", "source": "source"}
BY_NAME = {option.name: option for option in OPTIONS}


def lines(want: DesiredInterface) -> list[str]:
    """The stanzas of an interface. Raises ``Refused`` for impossible settings."""
    if want.kind not in KINDS:
        raise Refused(f"type cannot be {want.kind!r} with ifupdown; it must be one of {', '.join(KINDS)}")
    needed = NEEDED.get(want.kind)
    if needed and not want.settings.get(needed):
        raise Refused(f"an interface of type {want.kind} needs {needed}")
    if want.kind == "source":
        return [f"source {word('source', want.settings['source'])}\n"]
    marks = [f"auto {want.name}\n"] if want.enabled else []
    if checks.is_on("hotplug", want.settings.get("hotplug", False)):
        marks.append(f"allow-hotplug {want.name}\n")
    stanzas = [*_stanza(want, "inet"), *_stanza(want, "inet6")]
    if not stanzas:
        raise Refused(f"no setting says how {want.name} gets its address; give proto, or ipaddr")
    return [*marks, *stanzas]


def _stanza(want: DesiredInterface, family: str) -> list[str]:
    own = _own(want, family)
    switch = {"inet": "enable_ipv4", "inet6": "enable_ipv6"}[family]
    proto = _proto(want, own, family)
    if not proto or not checks.is_on(switch, want.settings.get(switch, True)):
        return []
    body = [*_options(own, family), *_commands(own), *_ethtool(want), *_bond(want), *_bridge(want)]
    return [f"iface {want.name} {family} {proto}\n", *(f"    {line}\n" for line in body)]


def _proto(want: DesiredInterface, own: Mapping[str, object], family: str) -> str:
    """The given protocol; else static if there is an address. A slave of a bond has none."""
    given = own.get("proto")
    if given is None:
        bare = family == "inet" and want.kind in ("slave", "bond", "bridge", "vlan")
        given = "static" if own.get("address") or own.get("addresses") else "manual" if bare else ""
    if given == "":
        return ""
    proto = one_of(*PROTOS[family])("proto" if family == "inet" else "ipv6proto", given)
    return "manual" if proto == "none" or want.kind == "slave" else proto


def _own(want: DesiredInterface, family: str) -> dict[str, object]:
    """The settings of one family, by the names of interfaces(5); those with its prefix win."""
    prefix, other = ("ipv4", "ipv6") if family == "inet" else ("ipv6", "ipv4")
    shared: dict[str, object] = {}
    special: dict[str, object] = {}
    for name, value in want.settings.items():
        if value is None or name.startswith(other):
            continue
        where = special if name.startswith(prefix) else shared
        bare = name.removeprefix(prefix)
        where[ALIASES.get(bare, bare if bare in BY_NAME else bare.replace("_", "-"))] = value
    if family == "inet6":
        shared = {name: value for name, value in shared.items() if name not in INET_ONLY}
    if want.kind == "vlan":
        shared.setdefault("vlan-raw-device", re.sub(r"\.\d+$", "", want.name))
    if want.kind == "bond":
        shared.pop("mode", None)
    return {**shared, **special}


def _options(own: Mapping[str, object], family: str) -> list[str]:
    found = []
    for option in OPTIONS:
        check = option.inet if family == "inet" else option.inet6
        value = own.get(option.name)
        if check is not None and value is not None and value != "":
            found.append(f"{option.name} {check(option.name, value)}")
        if option.name == "address" and check is not None:
            found += [
                f"address {check('address', one)}" for one in checks.list_of_words(own.get("addresses") or ())
            ]
    return found


def _commands(own: Mapping[str, object]) -> list[str]:
    given = {name: own[name] for name in COMMANDS if own.get(name)}
    return [f"{name} {line}" for name, value in given.items() for line in checks.commands(name, value)]


def _ethtool(want: DesiredInterface) -> list[str]:
    if want.kind == "bridge":
        return []
    given = {name: want.settings[name] for name in ETHTOOL if want.settings.get(name) is not None}
    return sorted(f"{ETHTOOL[name][0]} {ETHTOOL[name][1](name, value)}" for name, value in given.items())


def _bond(want: DesiredInterface) -> list[str]:
    if want.kind != "bond":
        return []
    slaves = " ".join(checks.interface(one) for one in checks.list_of_words(want.settings["slaves"]))
    return sorted(
        f"bond-{name} {value}" for name, value in {**bonds.options(want.settings), "slaves": slaves}.items()
    )


def _bridge(want: DesiredInterface) -> list[str]:
    if want.kind != "bridge":
        return []
    given = {name: want.settings[name] for name in BRIDGE if want.settings.get(name) is not None}
    return sorted(f"bridge_{name} {BRIDGE[name](name, value)}" for name, value in given.items())
