"""Normal forms of the values in a zone, for comparison: firewalld may store them differently."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable

from saltern.modules.api.refused import Refused

HIGHEST = 65535
Key = Callable[[str], frozenset[Hashable]]


def port(text: str) -> frozenset[Hashable]:
    """The single ports of ``80-82/tcp``; adjacent ports may be stored as one range."""
    found = re.fullmatch(r"(?P<first>\d+)(?:-(?P<last>\d+))?/(?P<protocol>\w+)", text)
    if not found or int(found["first"]) > HIGHEST:
        return frozenset({text})
    last = min(int(found["last"] or found["first"]), HIGHEST)
    return frozenset((number, found["protocol"]) for number in range(int(found["first"]), last + 1))


def plain(text: str) -> frozenset[Hashable]:
    return frozenset({text})


def rich_rule(text: str) -> frozenset[Hashable]:
    """The parts of a rule with their attributes, without regard to order and quotes."""
    from saltern.modules.api.commands import words

    parts: list[list[str]] = []
    for word in words(text):
        goes_on = "=" in word or word.lower() in ("not", "limit")
        if goes_on and parts:
            parts[-1].append(word.upper() if word.lower() == "not" else word)
        else:
            parts.append([word])
    return frozenset({tuple(sorted((part[0], *sorted(part[1:])) for part in parts))})


KEYS: dict[str, Key] = {"ports": port, "rich_rules": rich_rule}


def forward(text: str) -> dict[str, str]:
    """``22:2222:tcp:10.0.0.1``, or the form in firewalld's listing, in Salt's form."""
    if "port=" in text:
        given = dict(part.partition("=")[::2] for part in text.split(":", 3))
        source, target, protocol = given.get("port", ""), given.get("toport", ""), given.get("proto", "")
        address = given.get("toaddr", "")
    else:
        source, target, protocol, address = [*text.split(":", 3), "", "", "", ""][:4]
    if not source or not protocol or not (target or address):
        raise Refused(f"{text!r} is not a forwarding; write it as 22:2222:tcp or 80:443:tcp:192.168.0.1")
    return {
        "Source port": source,
        "Destination port": target,
        "Protocol": protocol,
        "Destination address": address,
    }


def forward_option(text: str) -> str:
    """The forwarding in firewalld's form."""
    given = forward(text)
    source, target = given["Source port"], given["Destination port"]
    return f"port={source}:proto={given['Protocol']}:toport={target}:toaddr={given['Destination address']}"


def missing_values(arg: str, wanted: list[str], current: list[str]) -> list[str]:
    """The wanted values that are missing."""
    key = KEYS.get(arg, plain)
    have = frozenset(one for text in current for one in key(text))
    return [text for text in dict.fromkeys(wanted) if not key(text) <= have]
