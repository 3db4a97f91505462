"""Grains of hosts for targets: requested once, and cached on this machine with their time."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from saltern.fleet.ssh.drive import Reach, enter
from saltern.fleet.ssh.problems import Unreached
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.session import open_session
from saltern.language.diagnostics import OperationError
from saltern.system import atomic
from saltern.system.private import make_private
from saltern.targeting.compound import Every, Node, Not, Some, parse

ASK_LIMIT = 300.0  # seconds; sending the bundle before the first request takes a while on a slow line
USED_BY = ("grain", "grain_pcre", "ipcidr")


class KnownGrains(Struct, frozen=True, kw_only=True):
    """The grains of a host, when they were read, and its address then."""

    grains: dict[str, Any]
    at: float
    address: str


class GrainStore:
    """One file with the grains of all hosts that were asked."""

    def __init__(self, path: str) -> None:
        self._path = path

    def read(self, hosts: Iterable[Host]) -> dict[str, KnownGrains]:
        """The known grains of these hosts. A different address means a different machine."""
        every = self._all()
        pairs = ((host, every.get(host.id)) for host in hosts)
        return {host.id: one for host, one in pairs if one is not None and one.address == _address(host)}

    def write(self, known: Mapping[str, KnownGrains]) -> None:
        make_private(os.path.dirname(self._path))
        atomic.write(self._path, msgspec.json.encode({**self._all(), **known}))

    def _all(self) -> dict[str, KnownGrains]:
        try:
            with open(self._path, "rb") as file:
                return msgspec.json.decode(file.read(), type=dict[str, KnownGrains])
        except (OSError, msgspec.DecodeError):
            return {}


def _address(host: Host) -> str:
    return f"{host.user}@{host.address}:{host.port or ''}"


def needs_grains(expression: str) -> bool:
    """True if a compound target uses grains. Raises ``BadTarget``."""
    return _looks(parse(expression))


def _looks(node: Node) -> bool:
    if isinstance(node, Not):
        return _looks(node.inner)
    if isinstance(node, Every | Some):
        return any(map(_looks, node.parts))
    return node.how in USED_BY


def ask_grains(hosts: Iterable[Host], reach: Reach) -> dict[str, KnownGrains | str]:
    """The current grains of each host, or why it cannot be asked."""

    async def one(host: Host) -> KnownGrains | str:
        try:
            return await ask_host(host, reach)
        except Unreached as problem:
            return str(problem.diagnostic())
        except OperationError as problem:
            return str(problem)

    return asyncio.run(reach.on_each(hosts, one))


async def ask_host(host: Host, reach: Reach) -> KnownGrains:
    """The current grains of a host. Raises ``Unreached`` or ``OperationError``."""
    session = await open_session(host, reach.transport, reach.secrets)
    try:
        async with asyncio.timeout(ASK_LIMIT):
            await enter(session, reach.bundles)
            frame = await session.ask({"do": "grains"})
        return KnownGrains(grains=dict(frame.head.get("grains", {})), at=time.time(), address=_address(host))
    except TimeoutError:
        raise Unreached("timeout", f"no grains within {ASK_LIMIT:g} seconds") from None
    finally:
        await session.close()
