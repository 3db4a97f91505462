"""Random cases for the files of Debian's network, and what two such files mean.

They are written for interfaces that do not exist, and nothing is brought up or down. Not among them: types
for which Salt calls apt even in test mode (``bridge``, ``vlan``), and ``alias``, for which it ends with a
trace back.
"""

from __future__ import annotations

import json
from ipaddress import ip_network

from tests.compat.chance import Case, Chance, Maker

FOLDERS = {f"/etc/network/{name}": {"folder": ""} for name in ("interfaces.d", "if-up.d", "if-down.d")}
INTERFACES = "/etc/network/interfaces"
LOOP = "auto lo\niface lo inet loopback\n"
OTHERS = (
    "iface zz8 inet dhcp\n",
    "auto zz9\niface zz9 inet static\n    address 10.9.0.1\n    netmask 255.255.255.0\n"
    "    up /bin/one\n    up /bin/two\n",
    "allow-hotplug zz7\niface zz7 inet manual\niface zz7 inet6 auto\n    privext 2\n",
    "# a remark\n",
    "\n",
)
OWN = (
    "auto zz0\niface zz0 inet dhcp\n",
    "iface zz0 inet static\n    address 10.0.0.1\n    netmask 255.255.255.0\n    mtu 1400\n",
    "auto zz0\niface zz0 inet static\n    address 10.0.0.2\n    gateway 10.0.0.9\n"
    "    dns-nameservers 10.0.0.3 10.0.0.4\n",
    "allow-hotplug zz0\niface zz0 inet manual\n    up /bin/old\n",
    "iface zz0 inet6 static\n    address 2001:db8::5\n    netmask 64\n",
)


def family4(chance: Chance) -> Case:
    if chance.random() < 0.4:
        return {"proto": chance.choice(("dhcp", "manual", "loopback"))}
    return {"proto": "static", "ipaddr": chance.choice(("10.0.0.1", "10.0.0.2"))} | chance.some(
        netmask=("255.255.255.0", "255.255.0.0"),
        gateway=("10.0.0.9",),
        ipaddrs=(["10.0.0.7/24", "10.0.0.8/24"],),
        pointopoint=("10.0.0.5",),
        scope=("link",),
        metric=(5,),
    )


def family6(chance: Chance) -> Case:
    if chance.random() < 0.5:
        return {}
    if chance.random() < 0.4:
        return {"ipv6proto": chance.choice(("auto", "dhcp", "manual"))} | chance.some(ipv6privext=(1, 2))
    return {"ipv6proto": "static", "ipv6addr": "2001:db8::5"} | chance.some(
        ipv6netmask=(64, "64"), ipv6gateway=("2001:db8::1",), ipv6addrs=(["2001:db8::7/64"],), accept_ra=(2,)
    )


def shared(chance: Chance) -> Case:
    return chance.some(
        dns=(["10.0.0.3"], ["10.0.0.3", "10.0.0.4"]),
        mtu=(1400, "9000"),
        hwaddr=("00:11:22:33:44:55",),
        enable_ipv6=(True, False),
        hotplug=(True, False),
        up_cmds=(["/bin/one", "/bin/two x"], ["/bin/one"]),
        pre_up_cmds=(["/bin/before"],),
        post_down_cmds=(["/bin/after"],),
        autoneg=(True, "off"),
        duplex=("full",),
        speed=("1000",),
        rx=(True, False),
    )


def interfaces(chance: Chance) -> str:
    text = LOOP + chance.distinct(OTHERS, 3)
    return text + (chance.choice(OWN) if chance.random() < 0.6 else "")


def network_managed(chance: Chance) -> Case:
    args: Case = {"noifupdown": True} | chance.some(enabled=(True, False, False))
    files: Case = {**FOLDERS, INTERFACES: interfaces(chance)}
    kind = chance.choice(("eth", "eth", "eth", "slave", "bond", "source"))
    if kind == "source":
        args |= {"type": "source", "source": "interfaces.d/*"}
        return {"name": "source", "args": args, "files": files}
    case: Case = {"name": "zz0", "args": args, "files": files}
    if kind == "slave":
        args |= {"type": "slave", "master": "zz5"} | chance.some(hwaddr=("00:11:22:33:44:55",))
        return case
    args |= family4(chance) | family6(chance) | shared(chance)
    if "ipv6proto" in args:  # Salt would write them there, too
        args.pop("ipaddrs", None)
    if kind == "bond":  # really run, Salt would load a module of the kernel
        args |= {"type": "bond", "slaves": chance.choice(("zz1 zz2", ["zz1", "zz2"]))}
        args |= {"mode": chance.choice(("active-backup", "1", "802.3ad"))} | chance.some(miimon=(100,))
        return case | {"only": "test"}
    if chance.random() < 0.15:
        args["filename"] = "own"
        files[INTERFACES] = f"{LOOP}source /etc/network/interfaces.d/*\n"
    return case


def network_routes(chance: Chance) -> Case:
    """Salt writes scripts with no routes where here they are removed, and never finds those of ``zz0.1``."""
    choices = (
        {"ipaddr": "10.2.0.0", "netmask": "255.255.255.0", "gateway": "10.0.0.9"},
        {"ipaddr": "10.3.0.0", "netmask": "255.255.0.0", "gateway": "10.0.0.9", "metric": 5},
        {"name": "far", "ipaddr": "10.4.0.0", "netmask": 24, "gateway": "10.0.0.8"},
        {"ipaddr": "default", "gateway": "10.0.0.1"},
        {"ipaddr": "10.5.0.0", "netmask": 16},
    )
    args = {"routes": chance.sample(choices, chance.randrange(1, 4)), "require_reboot": True}
    files: Case = dict(FOLDERS)
    if chance.random() < 0.4:
        for folder, verb in (("if-up.d", "add"), ("if-down.d", "del")):
            text = f"#!/bin/sh\nip route {verb} 10.8.0.0/16 via 10.0.0.9 dev zz0\n"
            files[f"/etc/network/{folder}/route-zz0"] = {"text": text, "mode": 0o755}
    return {"name": "zz0", "args": args, "files": files}


def network_system(chance: Chance) -> Case:
    """Salt only changes lines that are there, and no host name; what else it does is in quirks.md."""
    args: Case = {"require_reboot": True} | chance.some(
        enabled=(True, False), hostname=("web1", "web1.example.org", "web1.other.net")
    )
    lines = chance.choice(("domain old.net\n", "domain example.org\n"))
    case: Case = {"name": "all", "args": args}
    if chance.random() < 0.3:
        args["search"] = "example.org"
        lines += "search old.net other.net\n"
        case["runs"] = 2  # it changes the list again
    return case | {
        "files": {
            "/etc/default/networking": chance.choice(
                ("CONFIGURE_INTERFACES=yes\n", "# x\nCONFIGURE_INTERFACES=no\n")
            ),
            "/etc/hostname": "web1\n",
            "/etc/resolv.conf": f"{lines}nameserver 10.0.0.3\n",
        }
    }


NETWORKS: dict[str, Maker] = {
    "network.managed": network_managed,
    "network.routes": network_routes,
    "network.system": network_system,
}


def adapters(text: str) -> str:
    """What is said of each interface, wherever; the same option keeps its order."""
    found: dict[str, list[str]] = {}
    now = found.setdefault("", [])
    for line in text.splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "iface":
            now = found.setdefault(" ".join(words[1:3]), [])
            now.append(f"is {words[3]}")
        elif words[0] in ("auto", "allow-hotplug", "source"):
            for word in words[1:]:
                found.setdefault(word, []).append(words[0])
        else:
            now.append(" ".join(words))
    return json.dumps(
        {name: sorted(lines, key=lambda line: line.split()[0]) for name, lines in found.items()},
        sort_keys=True,
    )


def routing(text: str) -> str:
    """The routes that a script sets or removes."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["ip", "route"]:
            words[2] = words[2].replace("replace", "add")
            words[3] = words[3] if words[3] == "default" else str(ip_network(words[3]))
            found.append(" ".join(words[2:]))
    return "\n".join(found)


def boot(text: str) -> str:
    """Whether interfaces are brought up."""
    lines = [line.partition("=")[2] for line in text.splitlines() if line.startswith("CONFIGURE_INTERFACES=")]
    return lines[-1] if lines else "yes"


def resolver(text: str) -> str:
    return "\n".join(sorted(filter(None, text.splitlines())))


NETWORK_FILES = {
    INTERFACES: adapters,
    "/etc/network/interfaces.d/own": adapters,
    "/etc/network/if-up.d/route-zz0": routing,
    "/etc/network/if-down.d/route-zz0": routing,
    "/etc/default/networking": boot,
    "/etc/resolv.conf": resolver,
}
