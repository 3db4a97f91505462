"""The settings of an interface in ifcfg files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from saltern.modules.api.refused import Refused
from saltern.modules.lib.networking import bonds, checks
from saltern.modules.lib.networking.checks import Check, address4, integer, mac, yes_no
from saltern.modules.lib.networking.model import DesiredInterface

# The files are read by a shell; a quoted value must not break out of its quotes.
UNQUOTED = "\"'`$\\\n\0"


def word(name: str, value: object) -> str:
    text = checks.word(name, value)
    bad = next((sign for sign in UNQUOTED if sign in text), None)
    if bad is not None:
        raise Refused(f"{name} must not contain {bad!r}: the file is read by a shell")
    return text


KINDS: Mapping[str, str] = {
    "eth": "Ethernet",
    "bond": "Bond",
    "bridge": "Bridge",
    "vlan": "Vlan",
    "slave": "",
    "alias": "",
    "ipip": "IPIP",
    "ib": "InfiniBand",
    "team": "",
    "teamport": "",
}
DEVICES = {"team": "Team", "teamport": "TeamPort"}
NEEDED = {"slave": "master", "bond": "mode", "teamport": "team_master", "ipip": "my_inner_ipaddr"}
NO_HARDWARE = frozenset({"bond", "team", "vlan", "bridge", "ipip", "slave"})


def _json(_name: str, value: object) -> str:
    import json

    return json.dumps(value).replace("'", "\\u0027")


def _proto(name: str, value: object) -> str:
    """The protocol; ``static`` is an alias of ``none``."""
    text = checks.one_of("none", "static", "manual", "bootp", "dhcp")(name, value)
    return "none" if text in ("static", "manual") else text


# In Salt's order: the key, the setting, and its check.
BEFORE: Mapping[str, tuple[str, Check]] = {
    "NAME": ("nickname", word),
    "HWADDR": ("hwaddr", mac),
    "MACADDR": ("macaddr", mac),
    "UUID": ("uuid", word),
    "USERCTL": ("userctl", yes_no),
    "MASTER": ("master", word),
    "SLAVE": ("slave", yes_no),
    "VLAN": ("vlan", yes_no),
    "REORDER_HDR": ("reorder_hdr", yes_no),
    "VID": ("vlan_id", integer),
    "PHYSDEV": ("phys_dev", word),
    "TYPE": ("devtype", word),
    "DEVICETYPE": ("devicetype", word),
    "TEAM_CONFIG": ("team_config", _json),
    "TEAM_PORT_CONFIG": ("team_port_config", _json),
    "TEAM_MASTER": ("team_master", word),
    "BOOTPROTO": ("proto", _proto),
    "ONBOOT": ("onboot", yes_no),
    "ONPARENT": ("onparent", yes_no),
    "IPV4_FAILURE_FATAL": ("ipv4_failure_fatal", yes_no),
    "IPADDR": ("ipaddr", address4),
    "IPADDR_START": ("ipaddr_start", address4),
    "IPADDR_END": ("ipaddr_end", address4),
    "CLONENUM_START": ("clonenum_start", integer),
    "NETMASK": ("netmask", checks.netmask4),
    "PREFIX": ("prefix", integer),
}
SIX: Mapping[str, tuple[str, Check]] = {
    "IPV6INIT": ("enable_ipv6", yes_no),
    "IPV6_AUTOCONF": ("ipv6_autoconf", yes_no),
    "DHCPV6C": ("dhcpv6c", yes_no),
    "IPV6ADDR": ("ipv6addr", checks.address6),
    "IPV6_DEFAULTGW": ("ipv6gateway", checks.address6),
    "IPV6ADDR_SECONDARIES": ("ipv6addrs", checks.each(checks.address6)),
    "IPV6_PEERDNS": ("ipv6_peerdns", yes_no),
    "IPV6_DEFROUTE": ("ipv6_defroute", yes_no),
    "IPV6_PEERROUTES": ("ipv6_peerroutes", yes_no),
}
AFTER: Mapping[str, tuple[str, Check]] = {
    "SRCADDR": ("srcaddr", address4),
    "PEERDNS": ("peerdns", yes_no),
    "PEERROUTES": ("peerroutes", yes_no),
    "PEERNTP": ("peerntp", yes_no),
    "DEFROUTE": ("defroute", yes_no),
    "BRIDGE": ("bridge", word),
    "STP": ("stp", yes_no),
    "DELAY": ("delay", integer),
    "MTU": ("mtu", integer),
    "ZONE": ("zone", word),
    "MY_INNER_IPADDR": ("my_inner_ipaddr", address4),
    "MY_OUTER_IPADDR": ("my_outer_ipaddr", address4),
    "BONDING_OPTS": ("bonding", word),
    "ETHTOOL_OPTS": ("ethtool", word),
    "DOMAIN": ("domain", checks.each(word)),
    "NM_CONTROLLED": ("nm_controlled", yes_no),
}
CARD: Mapping[str, Check] = {
    "autoneg": checks.on_off,
    "duplex": checks.one_of("full", "half"),
    "speed": integer,
    "advertise": checks.hexadecimal,
}
CHANNELS = ("rx", "tx", "other", "combined")
ETHTOOL: Mapping[str, Check] = {
    **CARD,
    **dict.fromkeys(("rx", "tx", "sg", "tso", "ufo", "gso", "gro", "lro"), checks.on_off),
}


def lines(want: DesiredInterface, hardware: str) -> list[str]:
    """The lines for an interface. ``hardware`` is its current MAC address, if it exists."""
    if want.kind not in KINDS:
        raise Refused(f"type cannot be {want.kind!r} with ifcfg files; it must be one of {', '.join(KINDS)}")
    given = {name: value for name, value in want.settings.items() if value is not None and value != ""}
    if want.kind == "teamport" and "master" in given:
        given.setdefault("team_master", given.pop("master"))
    if (needed := NEEDED.get(want.kind)) and needed not in given:
        raise Refused(f"an interface of type {want.kind} needs {needed}")
    if "prefix" in given and "netmask" in given:
        raise Refused("prefix and netmask cannot be given together")
    if "hwaddr" in given and "macaddr" in given:
        raise Refused("hwaddr and macaddr cannot be given together")
    full = {**given, **_derived_settings(want, given, hardware)}
    return [
        f'DEVICE="{want.name}"',
        *_rows(full, BEFORE),
        *_more(full),
        *_rows(full, AFTER),
        *_servers(full),
    ]


def _derived_settings(
    want: DesiredInterface, given: Mapping[str, object], hardware: str
) -> dict[str, object]:
    """The settings that follow from the kind of the interface, and the defaults."""
    found: dict[str, object] = {
        "onboot": want.enabled,
        "userctl": given.get("userctl", False),
        "nm_controlled": given.get("nm_controlled", False),
    }
    found |= {"devtype": KINDS[want.kind]} if KINDS[want.kind] else {}
    found |= {"devicetype": DEVICES[want.kind]} if want.kind in DEVICES else {}
    found |= {"slave": True, "proto": "none"} if want.kind == "slave" else {}
    found |= {"vlan": True} if want.kind == "vlan" else {}
    found |= {"peerdns": given.get("peerdns", True)} if "dns" in given else {}
    if want.kind == "bond":
        found["bonding"] = " ".join(f"{name}={value}" for name, value in bonds.options(given).items())
    if want.kind != "bridge" and (offload := _ethtool(want.name, given)):
        found["ethtool"] = offload
    found["hwaddr"] = _hardware(want, given, hardware)
    return found


def _hardware(want: DesiredInterface, given: Mapping[str, object], hardware: str) -> object:
    """The MAC address: the given one, or the current one (``auto``, or if not given)."""
    asked = str(given.get("hwaddr", "auto"))
    if asked != "auto":
        return None if asked == "none" else asked
    return (
        None if want.kind in NO_HARDWARE or "macaddr" in given or "range" in want.name else hardware or None
    )


def _ethtool(device: str, given: Mapping[str, object]) -> str:
    """The arguments for ethtool. ``channels`` is a separate command, so it names the device."""
    found = [f"{name} {check(name, given[name])}" for name, check in ETHTOOL.items() if name in given]
    if channels := checks.mapping("channels", given.get("channels")):
        counts = " ".join(f"{name} {integer(name, channels[name])}" for name in CHANNELS if name in channels)
        found.insert(sum(name in given for name in CARD), f"-L {device} {counts}")
    return " ".join(found)


def _rows(given: Mapping[str, object], table: Mapping[str, tuple[str, Check]]) -> list[str]:
    found = []
    for key, (name, check) in table.items():
        if given.get(name) is not None:
            quote = "'" if check is _json else '"'
            found.append(f"{key}={quote}{check(name, given[name])}{quote}")
    return found


def _more(given: Mapping[str, object]) -> list[str]:
    """Further addresses, the gateway, and the settings of IPv6."""
    found = []
    for count, one in enumerate(checks.list_of_words(given.get("ipaddrs") or ()), 1):
        address, slash, prefix = address4("ipaddrs", one).partition("/")
        if not slash:
            raise Refused(f"ipaddrs needs addresses with a prefix length such as 10.0.0.7/24, got {one!r}")
        found += [f'IPADDR{count}="{address}"', f'PREFIX{count}="{prefix}"']
    single: Mapping[str, tuple[str, Check]] = {
        "GATEWAY": ("gateway", address4),
        "ARPCHECK": ("arpcheck", yes_no),
    }
    return [*found, *_rows(given, single), *(_rows(given, SIX) if _has_six(given) else ())]


def _has_six(given: Mapping[str, object]) -> bool:
    return checks.is_on("enable_ipv6", given.get("enable_ipv6", False))


def _servers(given: Mapping[str, object]) -> list[str]:
    check: Callable[[str, object], str] = word
    servers = enumerate(checks.list_of_words(given.get("dns") or ()), 1)
    return [f'DNS{count}="{check("dns", one)}"' for count, one in servers]
