"""Joining a fleet, and leaving it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

from saltern.fleet.agent.paths import AgentPaths
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection
from saltern.fleet.bus.ports import BusError, NoAnswer, NoListener
from saltern.fleet.identity.jwt import BadJwt
from saltern.fleet.identity.keys import AgentKeys, load_or_make_keys
from saltern.fleet.identity.membership import (
    FILE,
    Membership,
    ask_to_join,
    become_member,
    client_tls,
    joiner_credential,
    load_membership,
    save_membership,
)
from saltern.fleet.identity.token import JoinToken, read_token
from saltern.fleet.protocol.envelope import Refused
from saltern.fleet.protocol.ids import BadId, check_id
from saltern.fleet.protocol.messages import EnrolAnswer
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.private import make_private

AGAIN = 10.0
STARTING = 30.0  # seconds for a controller, or the link of a site, that has just been started
PAUSE = 0.5


def join(paths: AgentPaths, text: str, id: str, *, wait: float, say: Callable[[str], None]) -> Membership:
    """Ask to join with a token; keep the membership. ``wait``: seconds for an operator to accept the key."""
    try:
        return asyncio.run(_join(paths, text, id, wait, say))
    except OSError as problem:
        what = f"the keys of this machine cannot be kept in {paths.keys}: {problem.strerror or problem}"
        raise _join_error(
            what, "free space there, or make the directory writable; then run it again"
        ) from None


def reach(servers: tuple[str, ...]) -> str:
    """What to do if none of these brokers can be reached. Pure."""
    hosts = (one.rpartition("://")[2].rpartition(":")[0].strip("[]") for one in servers)
    if all(host == "localhost" or host == "::1" or host.startswith("127.") for host in hosts):
        return (
            "this token is for the controller's own machine alone. For others, write `host: 0.0.0.0` and"
            " `names: [NAME OR ADDRESS]` into controller.yaml, start the controller again, and make another"
            " token"
        )
    return "is the controller running, and can this machine reach its port? a token lives for a while only"


async def _join(paths: AgentPaths, text: str, id: str, wait: float, say: Callable[[str], None]) -> Membership:
    _check(paths, id)
    token = read_token(text, time.time())
    keys = load_or_make_keys(paths.keys)
    name, credential = joiner_credential(token)
    settings = Connection(servers=token.servers, name=name, credential=credential, tls=client_tls(token.ca))
    try:
        bus = await NatsBus.connect(settings, wait=10)
    except BusError as problem:
        raise _join_error(f"no broker of the fleet can be reached: {problem}", reach(token.servers)) from None
    try:
        answer = await _wait_until_accepted(bus, token, id, keys, wait, say)
    finally:
        await bus.close()
    try:
        member = become_member(token, id, keys, answer.credential, answer.spare)
    except BadJwt as problem:
        raise _join_error(
            f"the credential is not what was asked for: {problem}", "ask for a new token"
        ) from None
    make_private(paths.keys)
    save_membership(paths.keys, member)
    return member


def is_joined(paths: AgentPaths, text: str, id: str) -> bool:
    """True if this machine already has this id in the fleet that the token is for."""
    if not is_member(paths):
        return False
    member, token = load_membership(paths.keys), read_token(text, time.time())
    return (member.id, member.fleet, member.account) == (id, token.fleet, token.account)


def is_member(paths: AgentPaths) -> bool:
    """True if this machine is in a fleet."""
    return os.path.lexists(os.path.join(paths.keys, FILE))


def _check(paths: AgentPaths, id: str) -> None:
    try:
        check_id(id)
    except BadId as problem:
        raise _join_error(str(problem), "give another one: --id ID") from None
    if is_member(paths):
        member = load_membership(paths.keys)
        what = f"this machine is already in the fleet {member.fleet!r}, as {member.id!r}"
        where = f" --directory {paths.base}" if paths.base else ""
        raise _join_error(what, f"leave that one first: saltern agent leave{where}")


async def _wait_until_accepted(
    bus: NatsBus,
    token: JoinToken,
    id: str,
    keys: AgentKeys,
    wait: float,
    say: Callable[[str], None],
) -> EnrolAnswer:
    """Ask until the key is accepted or rejected, or the time is up."""
    end = time.monotonic() + wait
    said = ""
    while True:
        answer = await _ask(bus, token, id, keys)
        if answer.state == "accepted":
            return answer
        if answer.state == "rejected":
            raise _join_error(
                f"the controller refuses this machine: {answer.why}", "ask the operators of the fleet"
            )
        if not said:
            said = f"waiting for an operator: {answer.why}; the fingerprint is {keys.fingerprint}"
            say(said)
        if time.monotonic() + (answer.retry_after or AGAIN) > end:
            fix = f"accept it on the controller (saltern fleet keys accept {id}), then run this command again"
            raise _join_error(f"the key {keys.fingerprint} is not accepted yet: {answer.why}", fix)
        await asyncio.sleep(answer.retry_after or AGAIN)


async def _ask(bus: NatsBus, token: JoinToken, id: str, keys: AgentKeys) -> EnrolAnswer:
    end = time.monotonic() + STARTING
    try:
        while True:
            try:
                return await ask_to_join(bus, token, id, keys, now=time.time(), facts={})
            except NoListener:
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(PAUSE)
    except NoListener:
        raise _join_error("no controller listens at the broker", "start it: saltern controller") from None
    except NoAnswer:
        fix = "compare the clocks of both machines, and look at the controller's log"
        raise _join_error("the controller did not answer", fix) from None
    except (BusError, Refused) as problem:
        raise _join_error(f"the request failed: {problem}", "try it again") from None


def leave(paths: AgentPaths) -> Membership:
    """Leave the fleet: remove membership and keys. Returns what this machine was in it."""
    member = load_membership(paths.keys)
    for name in (FILE, "signing.key", "sealing.key"):
        if os.path.lexists(path := os.path.join(paths.keys, name)):
            os.remove(path)
    return member


def _join_error(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="fleet-join-failed", what=what, fix=fix))
