"""Renews the credential at half of its life: the new one is stored before the old connection is closed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from random import random

from msgspec.structs import replace

from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection
from saltern.fleet.bus.ports import Bus, BusError
from saltern.fleet.identity.jwt import BadJwt, decode_user
from saltern.fleet.identity.keys import AgentKeys
from saltern.fleet.identity.membership import (
    KeyCredential,
    Membership,
    check_credential,
    client_tls,
    regain_credential,
    renew_credential,
    save_membership,
)
from saltern.fleet.identity.mint import spare_name
from saltern.fleet.protocol.envelope import Refused

log = logging.getLogger(__name__)

LEAST = 5.0  # seconds between two attempts
MOST = 3600.0
SPREAD = 0.1  # of its life, so that agents that joined together do not renew together


def renewal_time(issued: float, expires: float, chance: float = 0.0) -> float:
    """When to ask for a new credential: at half of its life, or somewhat later."""
    return issued + (expires - issued) * (0.5 + SPREAD * chance)


def next_wait(jwt: str, now: float, chance: float) -> float:
    """Seconds until the credential must be renewed; one that never expires is checked every hour."""
    try:
        claims = decode_user(jwt)
    except BadJwt:
        return LEAST
    if not claims.exp:
        return MOST
    return renewal_time(claims.iat, claims.exp, chance) - now


class Home:
    """The membership of a running agent: on disk, in memory, and in the credential of its connection."""

    def __init__(self, folder: str, member: Membership, keys: AgentKeys, credential: KeyCredential) -> None:
        self.member = member
        self._folder = folder
        self.keys = keys
        self._credential = credential

    async def renew(self, bus: Bus, now: float) -> None:
        """Ask for a new credential, and connect with it."""
        await renew_credential(bus, self.member, self.keys, self._credential, now=now, save=self._save)

    def expiry(self, now: float) -> float:
        """When the credential has expired; 0 if it has not."""
        try:
            ends = float(decode_user(self.member.credential).exp)
        except BadJwt:
            return now
        return ends if ends and ends < now else 0.0

    async def regain(self, now: float) -> None:
        """Ask for a new credential with the spare one, because the regular one has expired."""
        if not self.member.spare:
            raise BadJwt("there is no spare one, because an older controller made it")
        key = self.keys.signing
        bus = await NatsBus.connect(
            Connection(
                servers=self.member.servers,
                name=spare_name(key.public),
                credential=KeyCredential(self.member.spare, key),
                tls=client_tls(self.member.ca),
            )
        )
        try:
            member = await regain_credential(bus, self.member, self.keys, now=now)
        finally:
            await bus.close()
        self._save(member)
        self._credential.replace(member.credential)

    async def adopt(self, bus: Bus, credential: str, servers: list[str]) -> None:
        """Adopt what a controller has sent with a sync: a credential, the addresses of the brokers."""
        if servers and tuple(servers) != self.member.servers:
            self._save(replace(self.member, servers=tuple(servers)))
        if not credential or credential == self.member.credential:
            return
        issuer = decode_user(credential).iss  # the answer is signed: it may name another issuer
        self._save(check_credential(replace(self.member, credential=credential, issuer=issuer), self.keys))
        self._credential.replace(credential)
        await bus.renew()

    def withdraw(self, keys: Iterable[str]) -> None:
        """Store that these keys of controllers are no longer valid."""
        self._save(replace(self.member, withdrawn=tuple(sorted({*self.member.withdrawn, *keys}))))

    def _save(self, member: Membership) -> None:
        save_membership(self._folder, member)
        self.member = member

    def wait(self, now: float, chance: float) -> float:
        return next_wait(self.member.credential, now, chance)


class Renewal:
    """Asks for a new credential in time."""

    def __init__(self, home: Home, bus: Bus, now: Callable[[], float]) -> None:
        self.problem = ""
        self._home = home
        self._bus = bus
        self._now = now
        self._chance = random()

    async def run(self) -> None:
        """Renew for ever."""
        pause = 0.0
        while True:
            wait = self._home.wait(self._now(), self._chance)
            await asyncio.sleep(min(MOST, max(0.0, pause, wait)))
            if self._home.wait(self._now(), self._chance) > 0:
                continue
            try:
                await self._renew(self._now())
                log.info("the credential is renewed")
                pause, self.problem = LEAST, ""
            except (BusError, Refused, BadJwt, OSError) as problem:
                self.problem = self._explain(str(problem), self._now())
                log.warning("%s", self.problem)
                pause = min(MOST, max(LEAST, pause * 2))

    async def _renew(self, now: float) -> None:
        """Renew over the current connection, or with the spare credential if the regular one has expired."""
        if self._home.expiry(now) and not self._bus.connected:
            await self._home.regain(now)
        else:
            await self._home.renew(self._bus, now)

    def _explain(self, why: str, now: float) -> str:
        ended = self._home.expiry(now)
        if not ended:
            return f"the credential is not renewed yet: {why}"
        day = time.strftime("%Y-%m-%d %H:%M", time.gmtime(ended))
        fix = "the agent keeps trying; or run `saltern agent leave`, and join with a new token"
        return f"the credential expired at {day} UTC, and a new one was not given: {why}; {fix}"
