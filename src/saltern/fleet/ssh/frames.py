"""The messages between the two ends of a channel: frames with a head in JSON and a body of bytes.

The program on the other side (``remote/bootstrap.py``) has its own copy of this code: it imports nothing from
saltern.
"""

from __future__ import annotations

import asyncio
import json
import struct
from typing import Any

from msgspec import Struct

from saltern.fleet.ssh.problems import Unreached
from saltern.fleet.ssh.transport.ports import Channel

SIZES = struct.Struct(">II")
MOST_HEAD = 16 * 1024 * 1024
MOST_BODY = 256 * 1024 * 1024
CHUNK = 256 * 1024


class Frame(Struct, frozen=True):
    """One message."""

    head: dict[str, Any]
    body: bytes = b""


def encode_head(head: dict[str, Any], size: int) -> bytes:
    """The bytes before a body of this size."""
    text = json.dumps(head).encode()
    return SIZES.pack(len(text), size) + text


class Frames:
    """Reads and writes frames over a channel, after what was read before the first of them."""

    def __init__(self, channel: Channel, already: bytes = b"") -> None:
        self._channel = channel
        self._buffer = bytearray(already)
        self._sending = asyncio.Lock()

    async def send(self, head: dict[str, Any], body: bytes = b"") -> None:
        """Send a frame; a long body in pieces, so that it is not all buffered for a slow reader."""
        async with self._sending:
            await self._channel.write(encode_head(head, len(body)) + body[:CHUNK])
            rest = memoryview(body)[CHUNK:]
            for start in range(0, len(rest), CHUNK):
                await self._channel.write(rest[start : start + CHUNK])

    async def receive(self) -> Frame | None:
        """The next frame; None if the channel has ended. Raises ``Unreached`` for anything else."""
        sizes = await self._exactly(SIZES.size)
        if sizes is None:
            return None
        head_size, body_size = SIZES.unpack(sizes)
        if head_size > MOST_HEAD or body_size > MOST_BODY:
            raise Unreached("garbage", f"a message of {head_size + body_size} bytes")
        head, body = await self._exactly(head_size), await self._exactly(body_size)
        if head is None or body is None:
            return None
        try:
            decoded = json.loads(head)
        except (ValueError, RecursionError):
            raise Unreached("garbage", head[:100].decode("utf-8", "replace")) from None
        if not isinstance(decoded, dict):
            raise Unreached("garbage", "a message without a head")
        return Frame(decoded, body)

    async def _exactly(self, size: int) -> bytes | None:
        while len(self._buffer) < size:
            data = await self._channel.read(CHUNK)
            if not data:
                return None
            self._buffer += data
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken
