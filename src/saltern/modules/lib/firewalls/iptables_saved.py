"""The output of ``iptables-save``, as data."""

from __future__ import annotations

import re
from collections.abc import Sequence

from saltern.modules.api.commands import words

LONG = {
    "-p": "protocol",
    "-s": "source",
    "-d": "destination",
    "-j": "jump",
    "-g": "goto",
    "-i": "in-interface",
    "-o": "out-interface",
    "-f": "fragment",
    "-c": "set-counters",
    "-m": "match",
    "--sport": "source_port",
    "--dport": "destination_port",
    "--sports": "source-ports",
    "--dports": "destination-ports",
}
Rule = dict[str, list[str]]

# Options that identify a rule; iptables prints some others differently, and adds some.
COMPARED = frozenset(
    {
        "source",
        "destination",
        "in-interface",
        "out-interface",
        "source_port",
        "destination_port",
        "source-ports",
        "destination-ports",
        "comment",
        "jump",
        "goto",
    }
)


def chains(text: str, table: str) -> dict[str, tuple[str, list[str]]]:
    """The chains of one table: policy and rules, without the counters, which always change."""
    found: dict[str, tuple[str, list[str]]] = {}
    inside = False
    for line in text.splitlines():
        if line.startswith("*"):
            inside = line[1:].strip() == table
        elif inside and line.startswith(":"):
            name, policy = line[1:].split()[:2]
            found[name] = (policy, [])
        elif inside and line.startswith("-A "):
            _, name, rule = [*line.split(" ", 2), ""][:3]
            found.setdefault(name, ("-", []))[1].append(rule)
    return found


def data(text: str) -> dict[str, dict[str, dict[str, object]]]:
    """All tables, in the form of ``iptables.get_rules``."""
    found: dict[str, dict[str, dict[str, object]]] = {}
    table: dict[str, dict[str, object]] = {}
    for line in text.splitlines():
        if line.startswith("*"):
            table = found.setdefault(line[1:].strip(), {})
        elif line.startswith(":"):
            name, policy, counters = [*line[1:].split(), "[0:0]"][:3]
            packets, _, volume = counters.strip("[]").partition(":")
            table[name] = {"policy": policy, "packet count": packets, "byte count": volume}
            table[name] |= {"rules": [], "rules_comment": {}}
        elif line.startswith("-A "):
            _, name, *rest = words(line)
            _keep(table.setdefault(name, {"rules": [], "rules_comment": {}}), options(rest))
    return found


def _keep(chain: dict[str, object], rule: Rule) -> None:
    rules, comments = chain["rules"], chain["rules_comment"]
    assert isinstance(rules, list) and isinstance(comments, dict)
    rules.append(rule)
    if "comment" in rule:
        comments[rule["comment"][0]] = rule


def options(rule: list[str]) -> Rule:
    """The options of a rule, each with its values; a ``!`` before an option becomes part of its value."""
    found: Rule = {}
    turned = False
    name = ""
    for word in rule:
        if word == "!":
            turned = True
        elif word.startswith("-") and len(word) > 1 and not word[1:].isdigit():
            name = LONG.get(word, word.lstrip("-"))
            found.setdefault(name, []).append("! " if turned else "")
            turned = False
        elif name:
            found[name][-1] = f"{found[name][-1]} {word}".strip() if found[name][-1] else word
    return found


def resembles(line: str, rule: Sequence[str]) -> bool:
    """True if a printed rule may be this rule; in doubt, true."""
    printed, wanted = options(words(line) if line else []), options(list(rule))
    if (
        printed.keys() & COMPARED != wanted.keys() & COMPARED
        or not wanted.keys() - {"match"} <= printed.keys()
    ):
        return False
    return all(_same(printed[name], wanted[name], name) for name in wanted.keys() & COMPARED)


def _same(printed: list[str], wanted: list[str], name: str) -> bool:
    if "port" in name and any(re.search("[a-z]", one) for one in wanted):
        return True  # a service by its name, printed as a number
    return [re.sub(r"/(32|128)$", "", one) for one in printed] == [
        re.sub(r"/(32|128)$", "", one) for one in wanted
    ]
