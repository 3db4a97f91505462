"""The controllers of a fleet: each notes where its broker is; the brokers of several are one cluster."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from saltern.fleet.protocol.messages import Signed
from saltern.fleet.store.database import Connection
from saltern.fleet.store.settings import read_setting, write_setting

NAME = "controllers"
REMOVED = "controllers removed"
WITHDRAWN = "controllers withdrawn"
ENOUGH = 3  # brokers, so that one may go


class Member(Struct, frozen=True, kw_only=True):
    """A controller: where other brokers and where agents reach its broker; the root's word for it.

    One that has joined and was not started yet is no part of the cluster.
    """

    route: str = ""
    servers: tuple[str, ...] = ()
    started: bool = True
    certificate: Signed | None = None


def members(connection: Connection) -> dict[str, Member]:
    return read_setting(connection, NAME, dict[str, Member]) or {}


def set_member(connection: Connection, name: str, member: Member) -> dict[str, Member]:
    """Write a controller down; all of them."""
    known = members(connection)
    if known.get(name) != member:
        known = {**known, name: member}
        write_setting(connection, NAME, known)
    return known


def remove_member(connection: Connection, name: str, key: bytes) -> bool:
    """Strike a controller off, and note its key, if there is one: it may not come back by itself."""
    known = members(connection)
    if known.pop(name, None) is None:
        return False
    write_setting(connection, NAME, known)
    gone = removed(connection)
    write_setting(connection, REMOVED, {**gone, name: [*gone.get(name, []), key.hex()]})
    return True


def removed(connection: Connection) -> dict[str, list[str]]:
    """Controllers that were struck off, with their keys as hex."""
    return read_setting(connection, REMOVED, dict[str, list[str]]) or {}


def withdrawals(connection: Connection) -> list[Signed]:
    """The root's word on the keys of controllers that were struck off, for agents."""
    return read_setting(connection, WITHDRAWN, list[Signed]) or []


def server_name(name: str) -> str:
    """What the broker of a controller is called among brokers. Pure."""
    return f"saltern-{name}"


def routes(known: Iterable[Member]) -> tuple[str, ...]:
    """The addresses of a cluster's brokers; none if there is one controller only. Pure."""
    found = tuple(sorted(one.route for one in known if one.route and one.started))
    return found if len(found) > 1 else ()


def servers(known: Iterable[Member]) -> tuple[str, ...]:
    """Where agents find a broker, whichever is there. Pure."""
    return tuple(dict.fromkeys(server for one in known if one.started for server in one.servers))
