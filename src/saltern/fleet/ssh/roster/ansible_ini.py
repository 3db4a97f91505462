"""Ansible's INI inventories: ``[group]`` with hosts, ``[group:children]``, ``[group:vars]``."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator

from saltern.fleet.ssh.roster.inventory import REST, TOP, Inventory
from saltern.fleet.ssh.roster.problems import Page
from saltern.fleet.ssh.roster.ranges import expand
from saltern.fleet.ssh.roster.values import BadValue

_SECTION = re.compile(r"\[([^:\]\s]+)(?::(\w+))?\]\s*(?:[#;].*)?")
_PORT = re.compile(r"(?P<name>[^:\[\]]*(?:\[[^\]]*\][^:\[\]]*)*):(?P<port>[0-9]+)")
KINDS = ("hosts", "children", "vars")


def is_ini(text: str) -> bool:
    """True if a line of the text is the head of a section and no line before it is YAML."""
    for _, line in _lines(text):
        if _SECTION.fullmatch(line):
            return True
        if line.endswith(":") or line.startswith(("- ", "{", "---")):
            return False
    return False


def read(page: Page) -> Inventory:
    """The inventory of an INI file. Problems go to the page."""
    inventory = Inventory()
    section, kind = REST, "hosts"
    for number, line in _lines(page.text):
        if line.startswith("["):
            found = _SECTION.fullmatch(line)
            if found is None or (found[2] or "hosts") not in KINDS:
                page.wrong(
                    f"{line!r} is not a section",
                    page.line(number),
                    "write [GROUP], [GROUP:children] or [GROUP:vars]",
                )
                continue
            section, kind = found[1], found[2] or "hosts"
            inventory.group(section)
        elif kind == "children":
            _child(inventory, section, line, number, page)
        elif kind == "vars":
            _variable(inventory, section, line, number, page)
        else:
            _hosts(inventory, section, line, number, page)
    return inventory


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped and stripped[0] not in "#;":
            yield number, stripped


def _child(inventory: Inventory, section: str, line: str, number: int, page: Page) -> None:
    name = line.split("#")[0].strip()
    if not name or set(name) & set(" =[]"):
        page.wrong(f"{name!r} is not the name of a group", page.line(number), "write one group in a line")
        return
    inventory.group(name)
    inventory.group(section).children.append(name)


def _variable(inventory: Inventory, section: str, line: str, number: int, page: Page) -> None:
    key, equals, value = line.partition("=")
    if not equals or not key.strip():
        page.wrong(f"{line!r} sets nothing", page.line(number), "write NAME=VALUE")
        return
    inventory.group(section).variables[key.strip()] = _value(_strip_comment(value.strip()))


def _hosts(inventory: Inventory, section: str, line: str, number: int, page: Page) -> None:
    where = page.line(number)
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return page.wrong(f"{line!r} has an open quote", where, "close it")
    if not words:
        return None
    name, variables = words[0], {}
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if not equals:
            page.wrong(f"{word!r} sets nothing", where, "after the host, write NAME=VALUE")
            continue
        variables[key] = _value(value)
    if found := _PORT.fullmatch(name):
        name = found["name"]
        variables.setdefault("ansible_port", int(found["port"]))
    try:
        names = list(expand(name))
    except BadValue as problem:
        return page.wrong(f"{name!r} must be {problem}", where)
    for one in names:
        inventory.host(one, where).update(variables)
        if section != TOP:
            inventory.group(section).hosts.append(one)
    return None


def _strip_comment(value: str) -> str:
    """Without a comment, which begins with a space and a hash outside of quotes."""
    return value if value[:1] in "'\"" else re.split(r"\s#", value, maxsplit=1)[0].rstrip()


def _value(text: str) -> object:
    """As Ansible reads it: a Python literal if it is one, else the text."""
    try:
        value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, (str, int, float, bool, list, dict, type(None))) else text
