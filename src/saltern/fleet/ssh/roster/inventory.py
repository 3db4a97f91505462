"""Turns an Ansible inventory into hosts of a roster: groups with hosts, children and variables.

Variables of a host win over those of its groups; those of a group over those of the groups above it; between
groups of one depth the later name wins, unless ``ansible_group_priority`` says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from saltern.fleet.ssh.roster import values
from saltern.fleet.ssh.roster.host import Host, Password
from saltern.fleet.ssh.roster.problems import Page
from saltern.fleet.ssh.roster.values import BadValue, Key
from saltern.language.source import Mark

VARIABLES: dict[str, Key] = {
    "ansible_host": Key("address"),
    "ansible_ssh_host": Key("address"),
    "ansible_port": Key("port", values.port),
    "ansible_ssh_port": Key("port", values.port),
    "ansible_user": Key("user"),
    "ansible_ssh_user": Key("user"),
    "ansible_password": Key("password"),
    "ansible_ssh_password": Key("password"),
    "ansible_ssh_pass": Key("password"),
    "ansible_ssh_private_key_file": Key("key"),
    "ansible_private_key_file": Key("key"),
    "ansible_ssh_common_args": Key("arguments"),
    "ansible_ssh_extra_args": Key("arguments_too"),
    "ansible_become": Key("become", values.truth),
    "ansible_become_method": Key("become_method"),
    "ansible_become_user": Key("become_user"),
    "ansible_become_password": Key("become_password"),
    "ansible_become_pass": Key("become_password"),
    "ansible_python_interpreter": Key("python"),
    "ansible_connection": Key("connection"),
    "ansible_ssh_timeout": Key("connect_limit", values.seconds),
    "ansible_timeout": Key("connect_limit", values.seconds),
    "saltern_directory": Key("directory"),
}
METHODS = ("sudo", "doas", "su")
CONNECTIONS = ("ssh", "smart", "paramiko", "paramiko_ssh", "local")
DISCOVERED = ("auto", "auto_legacy", "auto_silent", "auto_legacy_silent", "/usr/bin/env python3")
PRIORITY = "ansible_group_priority"
TOP, REST = "all", "ungrouped"


class Group(Struct):
    """A group: the hosts it names itself, the groups below it, its variables."""

    hosts: list[str] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    variables: dict[str, object] = field(default_factory=dict)


class Inventory(Struct):
    """Groups and hosts of one inventory, and where each was first named."""

    groups: dict[str, Group] = field(default_factory=lambda: {TOP: Group(), REST: Group()})
    hosts: dict[str, dict[str, object]] = field(default_factory=dict)
    places: dict[str, Mark] = field(default_factory=dict)

    def group(self, name: str) -> Group:
        return self.groups.setdefault(name, Group())

    def host(self, name: str, where: Mark) -> dict[str, object]:
        self.places.setdefault(name, where)
        return self.hosts.setdefault(name, {})


def loop_in(inventory: Inventory) -> str:
    """The name of a group that is below itself; empty if there is none."""
    done: set[str] = set()

    def enter(name: str, above: tuple[str, ...]) -> str:
        if name in above:
            return name
        if name in done:
            return ""
        found = next(filter(None, (enter(one, (*above, name)) for one in _children(inventory, name))), "")
        done.add(name)
        return found

    return next(filter(None, (enter(name, ()) for name in inventory.groups)), "")


def _children(inventory: Inventory, name: str) -> list[str]:
    return inventory.groups[name].children if name in inventory.groups else []


def hosts_of(inventory: Inventory, page: Page) -> Iterator[Host]:
    """The hosts with their effective variables. Problems go to the page."""
    if name := loop_in(inventory):
        page.wrong(f"the group {name!r} is below itself", page.line(1), "remove it from its own children")
        return
    above = _memberships(inventory)
    depths = _depths(inventory)
    for name, own in inventory.hosts.items():
        groups = above.get(name, set())
        merged = _merge_variables(inventory, groups, depths) | own
        yield _host(name, merged, frozenset(groups) or frozenset({REST}), inventory.places[name], page)


def _memberships(inventory: Inventory) -> dict[str, set[str]]:
    """The groups of each host, including parent groups, without the group of all hosts."""
    parents: dict[str, set[str]] = {}
    for name, group in inventory.groups.items():
        for child in group.children:
            parents.setdefault(child, set()).add(name)

    def upwards(name: str) -> set[str]:
        return {name}.union(*(upwards(parent) for parent in parents.get(name, ())))

    found: dict[str, set[str]] = {}
    for name, group in inventory.groups.items():
        for host in group.hosts:
            found.setdefault(host, set()).update(upwards(name) - {TOP})
    return found


def _depths(inventory: Inventory) -> dict[str, int]:
    """How far below the top each group is, by the longest way."""
    depths = dict.fromkeys(inventory.groups, 1)
    depths[TOP] = 0
    for _ in inventory.groups:
        changed = False
        for name, group in inventory.groups.items():
            for child in group.children:
                if depths.get(child, 0) < depths[name] + 1:
                    depths[child] = depths[name] + 1
                    changed = True
        if not changed:
            break
    return depths


def _merge_variables(inventory: Inventory, groups: set[str], depths: Mapping[str, int]) -> dict[str, object]:
    def rank(name: str) -> tuple[int, int, str]:
        priority = inventory.groups[name].variables.get(PRIORITY, 1)
        return depths.get(name, 1), priority if isinstance(priority, int) else 1, name

    merged: dict[str, object] = dict(inventory.groups[TOP].variables)
    for name in sorted(groups & inventory.groups.keys(), key=rank):
        merged |= inventory.groups[name].variables
    return merged


def _host(
    name: str, variables: Mapping[str, object], groups: frozenset[str], where: Mark, page: Page
) -> Host:
    fields = _fields(name, variables, where, page)
    others = {
        key: value
        for key, value in variables.items()
        if key not in VARIABLES and not key.startswith("ansible_")
    }
    return Host(
        id=name,
        where=where,
        groups=groups,
        variables=others,
        **_combine_fields(name, fields, where, page),
    )


def _fields(name: str, variables: Mapping[str, object], where: Mark, page: Page) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for variable, value in variables.items():
        key = VARIABLES.get(variable)
        if key is None or value is None:
            continue
        if isinstance(value, str) and "{{" in value:
            page.wrong(
                f"{variable!r} of {name!r} is a template, which only Ansible can fill in",
                where,
                "write the value, or a roster of saltern's own",
            )
            continue
        try:
            fields[key.field] = key.read(value)
        except BadValue as problem:
            page.wrong(f"{variable!r} of {name!r} must be {problem}", where)
    return fields


def _combine_fields(name: str, fields: dict[str, Any], where: Mark, page: Page) -> dict[str, Any]:
    connection = fields.pop("connection", "ssh")
    if connection not in CONNECTIONS:
        page.warn(f"{name!r} is reached by {connection!r}, which saltern does not have: ssh is used", where)
    method = fields.pop("become_method", "sudo")
    wants = fields.pop("become", False)
    if wants and method not in METHODS:
        page.wrong(f"{name!r} becomes root by {method!r}", where, f"saltern has {', '.join(METHODS)}")
    python = fields.pop("python", "")
    key = fields.pop("key", "")
    password = Password(fields.pop("password", ""))
    settings, jump = _arguments(
        name, f"{fields.pop('arguments', '')} {fields.pop('arguments_too', '')}", where, page
    )
    return {
        "address": name,
        **fields,
        "local": connection == "local",
        "become": method if wants and method in METHODS else "",
        "python": "" if python in DISCOVERED else python,
        "keys": (key,) if key else (),
        "password": password,
        "become_password": Password(fields.pop("become_password", "")) or password,
        "settings": settings,
        "jump": jump,
    }


def _arguments(name: str, text: str, where: Mark, page: Page) -> tuple[tuple[str, ...], str]:
    """Options for ssh: ``-o KEY=VALUE`` and ``-J`` are taken over; others are reported."""
    import shlex

    try:
        words = iter(shlex.split(text))
    except ValueError:
        page.wrong(f"the arguments for ssh of {name!r} have an open quote", where)
        return (), ""
    settings, jump = [], ""
    for word in words:
        flag, value = word[:2], word[2:] or next(words, "")
        if flag == "-o":
            settings.append(value)
        elif flag == "-J":
            jump = value
        else:
            page.warn(f"the argument {flag} for ssh of {name!r} is ignored", where, "saltern takes -o and -J")
    return tuple(settings), jump
