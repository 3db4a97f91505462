"""Salt's rosters: a mapping of ids, each with ``host``, ``user``, ``sudo`` and so on, or an address alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from saltern.fleet.ssh.roster import values
from saltern.fleet.ssh.roster.host import Host, Password
from saltern.fleet.ssh.roster.problems import Page
from saltern.fleet.ssh.roster.values import BadValue, Key
from saltern.language.source import Path

_UNUSED = "saltern brings itself along, and needs no such setting"
KEYS: dict[str, Key] = {
    "host": Key("address"),
    "user": Key("user"),
    "port": Key("port", values.port),
    "passwd": Key("password"),
    "passwd_command": Key("password_command"),
    "priv": Key("key"),
    "priv_passwd": Key(why="ssh asks its agent for keys with a passphrase: use ssh-add"),
    "sudo": Key("sudo", values.truth),
    "sudo_user": Key("become_user"),
    "become": Key("become"),
    "become_password_command": Key("become_password_command"),
    "tty": Key("terminal", values.truth),
    "timeout": Key("connect_limit", values.seconds),
    "thin_dir": Key("directory"),
    "ssh_options": Key("settings", values.texts),
    "identities_only": Key("identities_only", values.truth),
    "jump": Key("jump"),
    "python": Key("python"),
    "minion_opts": Key("minion_opts", values.mapping),
    "grains": Key("grains", values.mapping),
    "pillar": Key("pillar", values.mapping),
    "groups": Key("groups", values.texts),
    "set_path": Key(why=_UNUSED),
    "cmd_umask": Key(why=_UNUSED),
    "mods": Key(why=_UNUSED),
    "ssh_pre_flight": Key(why="saltern runs no program before it connects"),
    "ssh_pre_flight_args": Key(why="saltern runs no program before it connects"),
    "winrm": Key(why="Windows systems are not reached over SSH by saltern"),
}
BECOME = ("sudo", "doas", "su")


def is_roster(data: object) -> bool:
    """True if this has the shape of a roster of Salt: ids with an address, or a mapping that has ``host``."""
    return isinstance(data, Mapping) and all(
        isinstance(one, str) or (isinstance(one, Mapping) and "host" in one) for one in data.values()
    )


def read(data: Mapping[object, object], page: Page) -> Iterator[Host]:
    """The hosts of a roster. Problems go to the page."""
    for id_, given in data.items():
        host = _host(str(id_), given, page, (id_,))
        if host is not None:
            yield host


def _host(id_: str, given: object, page: Page, path: Path) -> Host | None:
    where = page.place(path)
    if isinstance(given, str):
        given = {"host": given}
    if not isinstance(given, Mapping):
        page.wrong(f"{id_!r} is neither an address nor a mapping", where, "write host: ADDRESS below it")
        return None
    fields = _fields(id_, given, page, path)
    if not fields.get("address"):
        page.wrong(f"{id_!r} has no 'host'", where, "write the address: host: 192.0.2.7")
        return None
    return Host(id=id_, where=where, **_combine_fields(fields))


def _fields(id_: str, given: Mapping[object, object], page: Page, path: Path) -> dict[str, Any]:
    """The values by the fields that they belong to, checked."""
    fields: dict[str, Any] = {}
    for name, value in given.items():
        where = page.place((*path, name))
        key = KEYS.get(str(name))
        if key is None:
            page.unknown("a system of a roster", str(name), KEYS, where)
        elif not key.field:
            page.warn(f"{name!r} of {id_!r} is ignored: {key.why}", where)
        elif value is not None:
            try:
                fields[key.field] = key.read(value)
            except BadValue as problem:
                page.wrong(
                    f"{name!r} of {id_!r} must be {problem}, and is {_shown_value(name, value)}", where
                )
    if fields.get("become", "sudo") not in BECOME:
        page.wrong(f"'become' of {id_!r} must be one of {', '.join(BECOME)}", page.place((*path, "become")))
        del fields["become"]
    return fields


def _shown_value(name: object, value: object) -> str:
    return "something else" if "pass" in str(name) else repr(value)


def _combine_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """What a host is made of, from the single values."""
    password = Password(fields.pop("password", ""), fields.pop("password_command", ""))
    become_password = Password(command=fields.pop("become_password_command", "")) or password
    if fields.pop("sudo", False) and "become" not in fields:
        fields["become"] = "sudo"
    options = fields.pop("minion_opts", {})
    grains = {**_mapping(options.get("grains")), **fields.pop("grains", {})}
    settings = fields.pop("settings", ())
    if fields.pop("identities_only", False):
        settings = (*settings, "IdentitiesOnly=yes")
    key = fields.pop("key", "")
    return {
        **fields,
        "password": password,
        "become_password": become_password,
        "keys": (key,) if key and key != "agent-forwarding" else (),
        "settings": settings,
        "grains": grains,
        "groups": frozenset(fields.get("groups", ())),
    }


def _mapping(value: object) -> dict[str, object]:
    return values.mapping(value) if isinstance(value, dict) else {}
