"""The controllers of a fleet: each stores the addresses of its broker; several brokers form a cluster."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from saltern.fleet.protocol.messages import Signed
from saltern.fleet.store.database import Connection
from saltern.fleet.store.settings import read_setting, write_setting

NAME = "controllers"
REMOVED = "controllers removed"
WITHDRAWN = "controllers withdrawn"
ENOUGH = 3  # brokers, so that one may fail


class Member(Struct, frozen=True, kw_only=True):
    """A controller: the addresses of its broker for other brokers and for agents, and its certificate.

    One that has joined and was not started yet is not part of the cluster.
    """

    route: str = ""
    servers: tuple[str, ...] = ()
    started: bool = True
    certificate: Signed | None = None


def members(connection: Connection) -> dict[str, Member]:
    return read_setting(connection, NAME, dict[str, Member]) or {}


def set_member(connection: Connection, name: str, member: Member) -> dict[str, Member]:
    """Store a controller; return all of them."""
    known = members(connection)
    if known.get(name) != member:
        known = {**known, name: member}
        write_setting(connection, NAME, known)
    return known


def remove_member(connection: Connection, name: str, key: bytes) -> bool:
    """Remove a controller, and store its key, if there is one, so that it cannot come back by itself."""
    known = members(connection)
    if known.pop(name, None) is None:
        return False
    write_setting(connection, NAME, known)
    gone = removed_controllers(connection)
    write_setting(connection, REMOVED, {**gone, name: [*gone.get(name, []), key.hex()]})
    return True


def removed_controllers(connection: Connection) -> dict[str, list[str]]:
    """Removed controllers, with their keys as hex."""
    return read_setting(connection, REMOVED, dict[str, list[str]]) or {}


def withdrawals(connection: Connection) -> list[Signed]:
    """The root's signed withdrawals of the keys of removed controllers, for agents."""
    return read_setting(connection, WITHDRAWN, list[Signed]) or []


def server_name(name: str) -> str:
    """The name of a controller's broker in the cluster. Pure."""
    return f"saltern-{name}"


def routes(known: Iterable[Member]) -> tuple[str, ...]:
    """The addresses of a cluster's brokers; empty if there is only one controller. Pure."""
    found = tuple(sorted(one.route for one in known if one.route and one.started))
    return found if len(found) > 1 else ()


def servers(known: Iterable[Member]) -> tuple[str, ...]:
    """The addresses of all brokers, for agents. Pure."""
    return tuple(dict.fromkeys(server for one in known if one.started for server in one.servers))
