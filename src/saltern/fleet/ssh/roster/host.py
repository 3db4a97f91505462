"""``Host``: one system of a roster, and how it is reached. ``Roster``: all of them, with their groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct, field

from saltern.language.diagnostics import Diagnostic
from saltern.language.source import Mark

Become = Literal["", "sudo", "doas", "su"]
HIDDEN = "********"


class Password(Struct, frozen=True):
    """A password, the command that prints it, or a mark to ask a person for it. ``repr`` shows none of it."""

    text: str = ""
    command: str = ""
    ask: bool = False

    def __bool__(self) -> bool:
        return bool(self.text or self.command or self.ask)

    def __repr__(self) -> str:
        return f"Password({HIDDEN!r})" if self else "Password()"


class Host(Struct, frozen=True, kw_only=True):
    """One system. What is empty is left to ssh and its own configuration.

    ``become`` is the program that gives the rights of ``become_user``. ``settings`` are options for ssh, as
    in its configuration file; ``config`` is the file itself, if it is not that of the user. ``variables``
    have no meaning to saltern; states see them in the pillar.
    """

    id: str
    address: str
    user: str = ""
    port: int | None = None
    keys: tuple[str, ...] = ()
    password: Password = Password()
    become: Become = ""
    become_user: str = "root"
    become_password: Password = Password()
    jump: str = ""
    python: str = ""
    directory: str = ""
    connect_limit: float | None = None
    terminal: bool = False
    settings: tuple[str, ...] = ()
    config: str = ""
    local: bool = False
    groups: frozenset[str] = frozenset()
    grains: Mapping[str, object] = field(default_factory=dict)
    pillar: Mapping[str, object] = field(default_factory=dict)
    variables: Mapping[str, object] = field(default_factory=dict)
    where: Mark | None = None


class Roster(Struct):
    """Hosts by id, in the order of the files, the names of all groups, and what was noticed on the way."""

    hosts: dict[str, Host] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)

    def add(self, hosts: Iterable[Host]) -> list[tuple[Host, Host]]:
        """Add these; return the pairs that have one id."""
        twice = []
        for host in hosts:
            if host.id in self.hosts:
                twice.append((self.hosts[host.id], host))
                continue
            self.hosts[host.id] = host
            for group in sorted(host.groups):
                self.groups.setdefault(group, []).append(host.id)
        return twice
