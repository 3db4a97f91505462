"""What the lists of a zone are compared by: firewalld does not always keep a thing as it was written."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable

from saltern.modules.api.refused import Refused

HIGHEST = 65535
Key = Callable[[str], frozenset[Hashable]]


def port(text: str) -> frozenset[Hashable]:
    """``80-82/tcp`` stands for three ports; neighbours may be kept as one range."""
    found = re.fullmatch(r"(?P<first>\d+)(?:-(?P<last>\d+))?/(?P<protocol>\w+)", text)
    if not found or int(found["first"]) > HIGHEST:
        return frozenset({text})
    last = min(int(found["last"] or found["first"]), HIGHEST)
    return frozenset((number, found["protocol"]) for number in range(int(found["first"]), last + 1))


def plain(text: str) -> frozenset[Hashable]:
    return frozenset({text})


def rich_rule(text: str) -> frozenset[Hashable]:
    """Its parts, each with its attributes; the order of neither matters, nor do quotes."""
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
    """``22:2222:tcp:10.0.0.1``, or as firewalld lists it, in Salt's shape."""
    if "port=" in text:
        given = dict(part.partition("=")[::2] for part in text.split(":", 3))
        source, target, protocol = given.get("port", ""), given.get("toport", ""), given.get("proto", "")
        address = given.get("toaddr", "")
    else:
        source, target, protocol, address = [*text.split(":", 3), "", "", "", ""][:4]
    if not source or not protocol or not (target or address):
        raise Refused(f"{text!r} is no forwarding; write it as 22:2222:tcp or 80:443:tcp:192.168.0.1")
    return {
        "Source port": source,
        "Destination port": target,
        "Protocol": protocol,
        "Destination address": address,
    }


def forward_option(text: str) -> str:
    """As firewalld takes and lists it."""
    given = forward(text)
    source, target = given["Source port"], given["Destination port"]
    return f"port={source}:proto={given['Protocol']}:toport={target}:toaddr={given['Destination address']}"


def missing(arg: str, wanted: list[str], current: list[str]) -> list[str]:
    """What of ``wanted`` is not there."""
    key = KEYS.get(arg, plain)
    have = frozenset(one for text in current for one in key(text))
    return [text for text in dict.fromkeys(wanted) if not key(text) <= have]
