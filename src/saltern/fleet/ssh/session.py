"""A session with one host: a channel, the first program on it, and its introduction."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from msgspec import Struct

from saltern.fleet.ssh.frames import Frame, Frames
from saltern.fleet.ssh.patience import when_free
from saltern.fleet.ssh.problems import Unreached, classify
from saltern.fleet.ssh.remote.command import MARK, PROMPT, command, program
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.transport.ports import Channel, Secrets, Transport

MOST_NOISE = 64 * 1024  # bytes that shells may print before saltern's program does
ANSWER_LIMIT = 60.0
ASKS = (PROMPT, "assword")


class Introduction(Struct, frozen=True, kw_only=True):
    """The introduction of a host."""

    python: tuple[int, int, int]
    executable: str
    code: str
    machine: str
    system: str
    libc: str
    uid: int
    base: str
    boot: str
    now: float
    bundles: frozenset[str] = frozenset()


class Session:
    """The frames of a channel, and what the host is."""

    def __init__(self, host: Host, channel: Channel, frames: Frames, introduction: Introduction) -> None:
        self.host = host
        self.introduction = introduction
        self._channel = channel
        self._frames = frames

    async def send(self, head: dict[str, Any], body: bytes = b"") -> None:
        await self._frames.send(head, body)

    async def receive(self) -> Frame:
        """The next frame. Raises ``Unreached`` if the channel has ended."""
        frame = await self._frames.receive()
        if frame is None:
            raise await _end_reason(self._channel)
        return frame

    async def ask(self, head: dict[str, Any], body: bytes = b"") -> Frame:
        await self.send(head, body)
        return await self.receive()

    async def close(self) -> None:
        await self._channel.kill()


async def open_session(host: Host, transport: Transport, secrets: Secrets) -> Session:
    """Log in, change to the roster's user, start the bootstrap program and read its introduction.

    Raises ``Unreached`` with the class of the problem.
    """
    return await when_free(lambda: _open_session(host, transport, secrets))


async def _open_session(host: Host, transport: Transport, secrets: Secrets) -> Session:
    channel = await transport.open(host, command(host))
    try:
        if reads_ahead(host):
            await channel.write(program())
        already = await _begin(host, channel, secrets)
        if not reads_ahead(host):
            await channel.write(program())
        frames = Frames(channel, already)
        async with asyncio.timeout(ANSWER_LIMIT):
            frame = await frames.receive()
        if frame is None:
            raise await _end_reason(channel)
        return Session(host, channel, frames, _introduction(frame))
    except TimeoutError:
        await channel.kill()
        raise Unreached("timeout", channel.errors()) from None
    except BaseException:
        await channel.kill()
        raise


def reads_ahead(host: Host) -> bool:
    """True if only the bootstrap program reads the input: then it can be sent early, which saves a round
    trip.

    A password is asked for on the same channel, and a terminal changes bytes until it is set up.
    """
    return not host.become_password and not host.terminal


def _introduction(frame: Frame) -> Introduction:
    try:
        return msgspec.convert(frame.head, Introduction)
    except msgspec.ValidationError as problem:
        raise Unreached("garbage", str(problem)) from None


async def _begin(host: Host, channel: Channel, secrets: Secrets) -> bytes:
    """Wait for the program's mark, and give the password if asked; return what follows the mark."""
    asked = asyncio.create_task(give_password(host, channel, secrets)) if host.become_password else None
    try:
        async with asyncio.timeout(ANSWER_LIMIT + (host.connect_limit or 0)):
            return await _until_mark(channel)
    finally:
        if asked is not None:
            asked.cancel()


async def give_password(host: Host, channel: Channel, secrets: Secrets) -> None:
    await channel.until_errors(PROMPT if host.become == "sudo" else ASKS[1])
    await channel.write((await secrets(host, "become")).encode() + b"\n")


async def _until_mark(channel: Channel) -> bytes:
    read = bytearray()
    while MARK not in read:
        data = await channel.read(65_536)
        if not data:
            raise await _end_reason(channel, read.decode("utf-8", "replace"))
        read += data
        if len(read) > MOST_NOISE:
            raise Unreached("garbage", read[:200].decode("utf-8", "replace"))
    return bytes(read[read.index(MARK) + len(MARK) :])


async def _end_reason(channel: Channel, printed: str = "") -> Unreached:
    ended = await channel.wait()
    said = f"{ended.errors}\n{printed}"
    return Unreached(classify(ended.code, said), said)
