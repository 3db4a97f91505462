"""Removes a controller that is gone for good, on another one, so that it can be replaced.

The others notice it in the database: their brokers drop its broker, and the streams are copied to the
remaining ones. Its leases are free at once. If it comes back, it does not start, because it was removed. The
controller with the root key also withdraws its key: from their next sync on, agents refuse what it signs.
"""

from __future__ import annotations

import getpass
import socket
from contextlib import suppress

from saltern.fleet.broker.sites import split_address
from saltern.fleet.controller.certificates import NAME as CERTIFICATES
from saltern.fleet.controller.identity import LIFE, ControllerIdentity
from saltern.fleet.controller.members import (
    WITHDRAWN,
    Member,
    members,
    remove_member,
    removed_controllers,
    withdrawals,
)
from saltern.fleet.protocol.codec import BadMessage, decode
from saltern.fleet.protocol.messages import Certificate, Signed
from saltern.fleet.protocol.withdrawal import withdraw, withdrawn_key
from saltern.fleet.store import audit
from saltern.fleet.store.database import Connection, Database
from saltern.fleet.store.leases import give_up_all
from saltern.fleet.store.settings import read_setting, write_setting
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean

PATIENCE = 3.0  # seconds for a broker to greet


def remove(database: Database, me: ControllerIdentity, name: str, *, now: float) -> tuple[str, ...]:
    """Remove a controller; return the names of the remaining ones. Raises ``OperationError``."""
    with database.read() as connection:
        known = members(connection)
    if name == me.file.name:
        fix = "run this on another controller; the last one of a fleet is not removed"
        raise _bad(f"{name} is this controller itself", fix)
    if name not in known:
        if withdraw_keys(database, me, name, now=now):
            return tuple(sorted(known))
        hint = did_you_mean(name, known) or f"there are: {', '.join(sorted(known))}"
        raise _bad(f"the fleet has no controller {name!r}", hint)
    if where := answers_at(known[name]):
        fix = f"stop the controller there, then remove it: systemctl stop saltern-controller on {name}"
        raise _bad(f"the broker of {name} answers at {where}: it is not gone", fix)
    with database.write() as connection:
        _strike_off(connection, name, known[name], now)
        left = tuple(sorted(members(connection)))
    withdraw_keys(database, me, name, now=now)
    return left


def withdraw_keys(database: Database, me: ControllerIdentity, name: str, *, now: float) -> int:
    """Withdraw the keys of a removed controller with the root key, if it is here; return how many."""
    if me.root is None:
        return 0
    with database.write() as connection:
        made = withdrawals(connection)
        done = {withdrawn_key(one, me.file.fleet, me.file.roots) for one in made}
        kept = {key_of(one).hex() for one in members(connection).values()} | {me.key.public.hex()}
        keys = [
            key for key in removed_controllers(connection).get(name, []) if key and key not in done | kept
        ]
        if keys:
            made += [
                withdraw(me.root, _removal_certificate(me, name, bytes.fromhex(key), now)) for key in keys
            ]
            write_setting(connection, WITHDRAWN, made)
            who = f"local:{getpass.getuser()}"
            audit.append(connection, who, "controller.withdraw", {"name": name, "keys": keys}, now)
        return len(keys)


def _removal_certificate(me: ControllerIdentity, name: str, key: bytes, now: float) -> Certificate:
    return Certificate(fleet=me.file.fleet, serial="", name=name, key=key, issued=now, expires=now + LIFE)


def _strike_off(connection: Connection, name: str, member: Member, now: float) -> None:
    if not remove_member(connection, name, key_of(member)):
        return  # by another controller, meanwhile
    made = read_setting(connection, CERTIFICATES, dict[str, Signed]) or {}
    made.pop(name, None)
    write_setting(connection, CERTIFICATES, made)
    give_up_all(connection, name)
    audit.append(connection, f"local:{getpass.getuser()}", "controller.remove", {"name": name}, now)


def key_of(member: Member) -> bytes:
    """The key that the root has certified; empty if there is no certificate. Pure."""
    try:
        return decode(Certificate, member.certificate.text.encode()).key if member.certificate else b""
    except BadMessage:
        return b""


def answers_at(member: Member) -> str:
    """The address at which the broker of a controller answers; empty if it does not."""
    for server in member.servers:
        host, port = split_address(server.removeprefix("tls://"))
        with suppress(OSError), socket.create_connection((host, port), timeout=PATIENCE) as connection:
            if connection.recv(4) == b"INFO":
                return f"{host}:{port}"
    return ""


def check_not_removed(connection: Connection, me: ControllerIdentity) -> None:
    """Raise ``OperationError`` if another controller has removed this one."""
    if me.key.public.hex() in removed_controllers(connection).get(me.file.name, []):
        fix = "remove its state, and join again: saltern controller invite NAME on another controller"
        raise _bad(f"the controller {me.file.name} was removed from the fleet {me.file.fleet}", fix)


def _bad(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="controller-remove", what=what, fix=fix))
