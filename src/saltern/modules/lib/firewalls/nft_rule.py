"""A rule of nftables: the options of a state, named as in iptables → the text of a rule.

Every value may also be an expression of nft, such as ``@allowed`` or ``!= 10.0.0.1``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from saltern.language.keywords import ENGINE_WORDS, INTERNAL
from saltern.modules.api.params import unknown_argument
from saltern.modules.api.refused import Refused, one_line

FAMILIES: Mapping[str, str] = {
    "ipv4": "ip",
    "ip": "ip",
    "ipv6": "ip6",
    "ip6": "ip6",
    "inet": "inet",
    "arp": "arp",
    "bridge": "bridge",
    "netdev": "netdev",
}
# Arguments of the state, and those that Salt ignores; the rest of the options is the rule.
PLACE = frozenset(
    {"chain", "command", "family", "full", "match", "position", "save", "save_filename", "table"}
)
ALIKE: Mapping[str, str] = {
    "source": "saddr",
    "destination": "daddr",
    "target": "jump",
    "j": "jump",
    "to-port": "redirect-to",
    "protocol": "proto",
    "in-interface": "if",
    "out-interface": "of",
}
# Words that begin a statement; any other single word is a chain to jump to.
VERDICTS = ("accept", "drop", "reject", "return", "continue", "queue", "jump", "goto")
ACTS = ("log", "masquerade", "redirect", "snat", "dnat", "notrack", "tproxy", "synproxy", "dup", "fwd", "set")
MEASURES = ("counter", "limit", "quota")
STATEMENTS = frozenset((*VERDICTS, *ACTS, *MEASURES))
Given = Mapping[str, str]
Writer = Callable[[Given, str], str]


def _set(value: str) -> str:
    """``a,b`` as a set of nft; expressions of nft stay unchanged."""
    if value.startswith(("{", "@", "!", "<", ">")):
        return value
    parts = [part.strip() for part in value.split(",") if part.strip()]
    return f"{{ {', '.join(parts)} }}"


def _ports(field: str) -> Writer:
    def write(given: Given, name: str) -> str:
        if "proto" not in given:
            raise Refused(f"{name} needs a protocol, such as proto: tcp")
        return f"{given['proto']} {field} {_set(given[name].replace(':', '-'))}"

    return write


def _lower_set(words: str) -> Writer:
    return lambda given, name: f"{words} {_set(given[name].lower())}"


def _address(field: str) -> Writer:
    def write(given: Given, name: str) -> str:
        family = {"ip": "ip", "ip6": "ip6"}.get(given["family"])
        family = family or ("ip6" if given[name].count(":") > 1 else "ip")
        return f"{family} {field} {_bang(given[name])}"

    return write


def _bang(value: str) -> str:
    """``! x`` and ``not x``, as in iptables, in nft's syntax."""
    for sign in ("!=", "!", "not "):
        if value.startswith(sign):
            return f"!= {value.removeprefix(sign).strip()}"
    return _set(value) if "," in value and not value.startswith("{") else value


def _protocol(given: Given, name: str) -> str:
    used = given.keys() & {"dport", "sport", "dports", "sports"}
    return "" if used else f"meta l4proto {_set(given[name]) if ',' in given[name] else given[name]}"


def _jump(given: Given, name: str) -> str:
    value = given[name]
    first = value.split()[0].lower() if value.split() else ""
    if first in STATEMENTS:
        return value.lower() if value.isupper() else value
    return value if " " in value or not value else f"jump {value}"


def _redirect(given: Given, name: str) -> str:
    port = given[name] if ":" in given[name] else f":{given[name]}"
    already = given.get("jump", "").lower() == "redirect"
    return f"to {port}" if already else f"redirect to {port}"


def _reject(given: Given, name: str) -> str:
    already = given.get("jump", "").lower() == "reject"
    return f"with {given[name]}" if already else f"reject with {given[name]}"


# In their order within a rule.
WRITERS: Mapping[str, Writer] = {
    "if": lambda given, name: f"meta iifname {_bang(given[name])}",
    "of": lambda given, name: f"meta oifname {_bang(given[name])}",
    "connstate": _lower_set("ct state"),
    "ctstate": _lower_set("ct state"),
    "icmp-type": _lower_set("icmp type"),
    "icmpv6-type": _lower_set("icmpv6 type"),
    "pkttype": _lower_set("meta pkttype"),
    "proto": _protocol,
    "saddr": _address("saddr"),
    "daddr": _address("daddr"),
    "dport": _ports("dport"),
    "sport": _ports("sport"),
    "dports": _ports("dport"),
    "sports": _ports("sport"),
    "counter": lambda *_: "counter",
    "jump": _jump,
    "redirect-to": _redirect,
    "to-ports": _redirect,
    "to-source": lambda given, name: given[name],
    "to-destination": lambda given, name: given[name],
    "reject-with": _reject,
    "comment": lambda given, name: f'comment "{given[name]}"',
}


def text(options: Mapping[str, object], family: str) -> str:
    """The rule. Raises ``Refused`` for unknown options: a rule must not be wider than intended."""
    given: dict[str, str] = {}
    for name, value in options.items():
        if name in PLACE | ENGINE_WORDS | INTERNAL or name.startswith("__") or value is False:
            continue
        known = ALIKE.get(name, name)
        if known not in WRITERS:
            raise Refused(unknown_argument(name, [*WRITERS, *ALIKE]))
        given[known] = _plain(value, name)
        if not given[known] and known != "counter":
            raise Refused(f"the option {name!r} needs a value")
    family = FAMILIES.get(family, family)
    parts = [write({**given, "family": family}, name) for name, write in WRITERS.items() if name in given]
    return " ".join(part for part in parts if part)


def _plain(value: object, name: str) -> str:
    if value is None or value is True:
        return ""
    if isinstance(value, dict):
        raise Refused(f"the option {name!r} needs a text, a number or a list, got {value!r}")
    values = [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]
    return one_line(",".join(values).strip(), name, without=';"' if name == "comment" else ";")
