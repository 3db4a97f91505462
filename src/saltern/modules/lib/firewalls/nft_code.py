"""The code of nftables rules that the kernel runs.

nft prints it both for rules in force and, without adding it, for a given rule; so two rules are compared
by their meaning, however they are written. Counters and comments are not part of it, and the elements of
a set in braces have no order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

STEP = re.compile(r"\s*\[ (?P<step>.*?) \]\s*")
COUNTED = re.compile(r"\b(pkts|bytes|packets|consumed) \d+")
LOOKUP = re.compile(r"\b(?P<name>__(?:set|map)[%\w]*)")
SET = re.compile(r"(?:.*@)?(?P<name>__(?:set|map)[%\w]*)( .*)?")
ELEMENT = re.compile(r"element\s+(?P<element>.*?)\s*\[end\]")
HEAD = re.compile(r"(?P<family>\w+) (?P<table>\S+) (?P<chain>\S+)(?: (?P<handle>\d+)(?: \d+)?)?")

TRANSLATIONS = ("nat ", "redir", "masq")
ONE_ONLY = re.compile(r"(?P<min>(?P<what>addr|proto)_min reg (?P<reg>\d+)) (?P=what)_max reg (?P=reg)\b")
IMPLIED = 0x3  # "there is an address" and "there is a port"

Code = tuple[str, ...]


class Rule(Struct, frozen=True):
    """A rule; a handle of 0 means none."""

    handle: int
    code: Code


def rules(printed: str) -> list[Rule]:
    """The rules in the output of ``nft --debug=netlink``, without its listing in nft's syntax."""
    sets: list[tuple[str, list[str]]] = []
    found: list[tuple[int, list[str]]] = []
    for line in printed.splitlines():
        if line.startswith("table "):
            break
        if step := STEP.fullmatch(line):
            if found:
                found[-1][1].append(step["step"])
        elif elements := ELEMENT.findall(line):
            if sets:
                sets[-1][1].extend(_bare(one) for one in elements)
        elif line[:1].strip() and (named := SET.fullmatch(line)):
            _open(sets, named["name"])
        elif head := HEAD.fullmatch(line.strip()):
            found.append((int(head["handle"] or 0), []))
    return [Rule(handle, _code(steps, sets)) for handle, steps in found if steps]


def _bare(element: str) -> str:
    return re.sub(r"\s+", " ", element)


def _open(sets: list[tuple[str, list[str]]], name: str) -> None:
    """A new set; sets of a rule not in force have the same name, and two headings before the elements."""
    if not sets or sets[-1][0] != name or sets[-1][1]:
        sets.append((name, []))


def _code(steps: Iterable[str], sets: list[tuple[str, list[str]]]) -> Code:
    unnamed = iter([elements for name, elements in sets if "%" in name])
    named = {name: elements for name, elements in sets if "%" not in name}

    def content(match: re.Match[str]) -> str:
        name = match["name"]
        elements = next(unnamed, []) if "%" in name else named.get(name, [])
        return f"{{{'; '.join(sorted(elements))}}}"

    return tuple(LOOKUP.sub(content, COUNTED.sub(r"\1", _translation(step))) for step in steps)


def _translation(step: str) -> str:
    """A step of nat or similar, without values that the kernel adds: an end equal to the start, and flags."""
    if not step.startswith(TRANSLATIONS):
        return step.removesuffix(" 0x0")
    step = ONE_ONLY.sub(r"\g<min>", step)
    flags = re.search(r" flags 0x(?P<flags>[0-9a-f]+)", step)
    if not flags:
        return step
    reported = int(flags["flags"], 16) & ~IMPLIED
    return step.replace(flags[0], f" flags {reported:#x}" if reported else "")
