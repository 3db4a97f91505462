"""Ansible's inventories in YAML, and what inventory programs print as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.fleet.ssh.roster.inventory import TOP, Inventory
from saltern.fleet.ssh.roster.problems import Page
from saltern.fleet.ssh.roster.ranges import expand
from saltern.fleet.ssh.roster.values import BadValue
from saltern.language.source import Path

PARTS = ("hosts", "children", "vars")


def is_inventory(data: object) -> bool:
    """True if this has the shape of an inventory: groups with nothing but hosts, children and variables."""
    return isinstance(data, Mapping) and all(
        one is None or (isinstance(one, Mapping) and set(one) <= set(PARTS)) for one in data.values()
    )


def read(data: Mapping[object, object], page: Page) -> Inventory:
    """The inventory of a YAML file. Problems go to the page."""
    inventory = Inventory()
    for name, body in data.items():
        _group(inventory, str(name), body, page, (name,))
    return inventory


def _group(inventory: Inventory, name: str, body: object, page: Page, path: Path) -> None:
    group = inventory.group(name)
    if body is None:
        return
    if not isinstance(body, Mapping):
        page.wrong(
            f"the group {name!r} is not a mapping", page.place(path), "it has hosts, children and vars"
        )
        return
    for part, value in body.items():
        if part not in PARTS:
            page.unknown("a group", str(part), PARTS, page.place((*path, part)))
        elif value is not None and not isinstance(value, Mapping):
            page.wrong(f"{part!r} of the group {name!r} is not a mapping", page.place((*path, part)))
        elif value and part == "vars":
            group.variables.update({str(key): one for key, one in value.items()})
        elif value and part == "children":
            for child, inner in value.items():
                group.children.append(str(child))
                _group(inventory, str(child), inner, page, (*path, part, child))
        elif value:
            _hosts(inventory, name, value, page, (*path, part))


def _hosts(inventory: Inventory, name: str, hosts: Mapping[object, object], page: Page, path: Path) -> None:
    for host, variables in hosts.items():
        where = page.place((*path, host))
        try:
            names = list(expand(str(host)))
        except BadValue as problem:
            page.wrong(f"{host!r} must be {problem}", where)
            continue
        if variables is not None and not isinstance(variables, Mapping):
            page.wrong(f"the variables of {host!r} are not a mapping", where)
            continue
        for one in names:
            inventory.host(one, where).update({str(key): value for key, value in (variables or {}).items()})
            if name != TOP:
                inventory.group(name).hosts.append(one)


def read_program(data: object, page: Page) -> Inventory:
    """What an inventory program printed: groups with lists of hosts, and ``_meta`` with their variables."""
    inventory = Inventory()
    where = page.line(1)
    if not isinstance(data, Mapping):
        page.wrong("the program printed no inventory", where, "with --list it must print a JSON object")
        return inventory
    for name, body in data.items():
        if name == "_meta":
            continue
        group = inventory.group(str(name))
        parts = body if isinstance(body, Mapping) else {"hosts": body}
        for host in _list(parts.get("hosts")):
            inventory.host(host, where)
            group.hosts.append(host)
        group.children += _list(parts.get("children"))
        group.variables.update(_mapping(parts.get("vars")))
    for host, variables in _mapping(_mapping(data.get("_meta")).get("hostvars")).items():
        inventory.host(host, where).update(_mapping(variables))
    return inventory


def _list(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _mapping(value: object) -> dict[str, object]:
    return {str(key): one for key, one in value.items()} if isinstance(value, Mapping) else {}
