"""Certificates of controllers, renewed while they run.

A controller that has the root key certifies itself and the others: each stores its certificate in the
database, and finds the next one there. Only a key that the root has certified, and whose certificate is still
valid, gets a new one: write access to the database alone gains nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.health import Health
from saltern.fleet.controller.identity import (
    RENEW,
    ControllerIdentity,
    new_certificate,
    renew_certificate,
    save_certificate,
)
from saltern.fleet.controller.members import Member, members, set_member
from saltern.fleet.protocol.envelope import Issuer, Refused, Trust, check_certificate
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import Certificate, Signed
from saltern.fleet.store.database import Connection
from saltern.fleet.store.settings import read_setting, write_setting

log = logging.getLogger(__name__)

NAME = "controller certificates"


def due(trust: Trust, known: Mapping[str, Member], now: float) -> dict[str, Certificate]:
    """The certificates of controllers that expire soon and may be renewed. Pure."""
    found = {name: valid(one.certificate, trust, name, now) for name, one in known.items()}
    return {name: one for name, one in found.items() if one is not None and one.expires <= now + RENEW}


def valid(signed: Signed | None, trust: Trust, name: str, now: float) -> Certificate | None:
    """The certificate, if the root issued it to this controller and it is valid now. Pure."""
    if signed is None or not signed.text:
        return None
    try:
        found = check_certificate(signed, trust, now)
    except Refused:
        return None
    return found if found.name == name else None


class CertificateKeeper:
    """Call ``step`` now and then: from then on the issuer signs with the newest certificate."""

    def __init__(
        self,
        folder: str,
        identity: ControllerIdentity,
        issuer: Issuer,
        calls: Calls,
        health: Health,
        *,
        now: Callable[[], float],
    ) -> None:
        self._folder = folder
        self._identity = identity
        self._issuer = issuer
        self._calls = calls
        self._health = health
        self._now = now
        self._trust = Trust(fleet=identity.file.fleet, roots=identity.file.roots)

    async def step(self) -> None:
        now, identity = self._now(), self._identity
        if identity.root is not None:
            self._adopt(renew_certificate(self._folder, identity, now).certificate)
            if due(self._trust, await self._others(), now):
                await self._calls.write(_renew, identity, self._trust, now)
        elif identity.expires <= now + RENEW:
            await self._take(now)

    async def _others(self) -> dict[str, Member]:
        known = await self._calls.look(members)
        return {name: one for name, one in known.items() if name != self._identity.file.name}

    async def _take(self, now: float) -> None:
        """Use the next certificate, if a controller with the root key has made it."""
        name = self._identity.file.name
        signed = (await self._calls.read(_certificates)).get(name)
        found = valid(signed, self._trust, name, now)
        if signed is None or found is None or found.key != self._identity.key.public:
            return
        if found.expires > self._identity.expires:
            save_certificate(self._folder, signed)
            self._adopt(signed)
            await self._calls.write(_note, name, signed)

    def _adopt(self, certificate: Signed) -> None:
        if certificate == self._issuer.certificate:
            return
        self._identity = replace(self._identity, certificate=certificate)
        self._issuer.certificate = certificate
        self._health.expires = self._identity.expires
        log.warning("the certificate of this controller was renewed")


def _certificates(connection: Connection) -> dict[str, Signed]:
    return read_setting(connection, NAME, dict[str, Signed]) or {}


def _renew(connection: Connection, identity: ControllerIdentity, trust: Trust, now: float) -> None:
    """Certify the keys of other controllers again, for a full lifetime."""
    root: SigningKey | None = identity.root
    assert root is not None, "only a controller with the root key renews"
    made, known = _certificates(connection), members(connection)
    for name, one in due(trust, known, now).items():
        held = valid(made.get(name), trust, name, now)
        if held is None or held.expires <= now + RENEW:
            made[name] = new_certificate(root, replace(identity.file, name=name), one.key, now)
    write_setting(connection, NAME, made)


def _note(connection: Connection, name: str, signed: Signed) -> None:
    known = members(connection).get(name)
    if known is not None:
        set_member(connection, name, replace(known, certificate=signed))
