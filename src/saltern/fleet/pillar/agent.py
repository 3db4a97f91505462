"""An agent's pillar: requested by workers, opened with the agent's key, kept on disk still sealed."""

from __future__ import annotations

import asyncio
import base64
import os
import time
import zlib
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct

from saltern.fleet.bus.ports import BusError
from saltern.fleet.pillar.seal_purpose import purpose_of
from saltern.fleet.protocol.codec import BadMessage
from saltern.fleet.protocol.envelope import Refused
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.keys import SealingKey
from saltern.fleet.protocol.message import Message
from saltern.fleet.protocol.messages import PillarAnswer, PillarRequest
from saltern.fleet.protocol.seal import SealBroken, SealedFor, open_seal
from saltern.system import atomic

WAIT, STEP = 90.0, 0.5  # seconds to wait for a controller, and between two requests
MOST = 256 << 20  # bytes of a pillar, unpacked
M = TypeVar("M", bound=Message)


class Ask(Protocol):
    """The services of the controllers."""

    def __call__(self, service: str, request: Any, shape: type[M]) -> Awaitable[M]: ...


class _Copy(Struct, frozen=True):
    """The last pillar, sealed."""

    digest: str
    sealed: bytes
    at: float


class NoPillar(Exception):
    """There is no pillar; the text says why."""


class AgentPillar:
    """Asks for the pillar of this system, and opens it. While no controller answers, the last one is used."""

    def __init__(
        self, ask: Ask, key: SealingKey, *, fleet: str, system: str, directory: str, wait: float = WAIT
    ) -> None:
        self._wait = wait
        self._ask = ask
        self._key = key
        self._fleet = fleet
        self._system = system
        self._directory = directory
        os.makedirs(directory, 0o700, exist_ok=True)

    async def fetch(self, environment: str, overrides: dict[str, Any], now: float) -> tuple[bytes, list[str]]:
        """The pillar as msgpack, and warnings; ``NoPillar`` if there is none."""
        copy = None if overrides else self._read(environment)
        request = PillarRequest(
            nonce=new_nonce(),
            environment=environment,
            overrides=overrides,
            digest=copy.digest if copy else "",
        )
        warnings: list[str] = []
        try:
            answer = await self._wait_for_answer(request, 0.0 if copy is not None else self._wait)
        except (BusError, Refused, BadMessage) as problem:
            if copy is None:
                raise NoPillar(f"no controller answers: {problem}") from None
            warnings.append(f"no controller answers ({problem}); the pillar is that of {_ago(now - copy.at)}")
            return self._open(copy.sealed, request), warnings
        if answer.problem:
            raise NoPillar(answer.problem)
        if not answer.sealed and copy is not None and answer.digest == copy.digest:
            return self._open(copy.sealed, request), warnings
        data = self._open(answer.sealed, request)
        if not overrides:
            self._write(environment, _Copy(answer.digest, answer.sealed, now))
        return data, warnings

    async def _wait_for_answer(self, request: PillarRequest, wait: float) -> PillarAnswer:
        """The answer of a controller. Waits for one that is away: a restart must not fail a run."""
        end = time.monotonic() + wait
        while True:
            try:
                return await self._ask("pillar", request, PillarAnswer)
            except BusError:
                if time.monotonic() + STEP > end:
                    raise
            await asyncio.sleep(STEP)

    def _open(self, box: bytes, request: PillarRequest) -> bytes:
        bound = SealedFor(fleet=self._fleet, system=self._system, purpose=purpose_of(request))
        try:
            packed = open_seal(box, self._key, bound)
            stream = zlib.decompressobj()
            data = stream.decompress(packed, MOST)
        except (SealBroken, zlib.error) as problem:
            raise NoPillar(f"the pillar cannot be opened: {problem}") from None
        if stream.unconsumed_tail:
            raise NoPillar(f"the pillar is larger than {MOST:,} bytes")
        return data

    def _path(self, environment: str) -> str:
        return os.path.join(self._directory, environment.encode().hex()[:200] or "all")

    def _read(self, environment: str) -> _Copy | None:
        with suppress(OSError, msgspec.DecodeError), open(self._path(environment), "rb") as file:
            return msgspec.msgpack.decode(file.read(), type=_Copy)
        return None

    def _write(self, environment: str, copy: _Copy) -> None:
        with suppress(OSError):  # it is only for times when no controller answers
            atomic.write(self._path(environment), msgspec.msgpack.encode(copy))


def _ago(seconds: float) -> str:
    minutes = max(0, int(seconds // 60))
    return f"{minutes} minutes ago" if minutes < 120 else f"{minutes // 60} hours ago"


async def answer_pillar(pillar: AgentPillar, question: dict[str, Any], now: float) -> dict[str, Any]:
    """Give the pillar to a worker that asks; only over the agent's socket, which only its owner can use."""
    try:
        given = base64.b64decode(str(question.get("overrides", "")))
        overrides = msgspec.msgpack.decode(given, type=dict[str, Any]) if given else {}
        data, warnings = await pillar.fetch(str(question.get("environment", "")), overrides, now)
    except NoPillar as problem:
        return {"problem": str(problem)}
    except (ValueError, msgspec.DecodeError):
        return {"problem": "what is given on the command line cannot be read"}
    return {"pillar": base64.b64encode(data).decode(), "warnings": warnings}
