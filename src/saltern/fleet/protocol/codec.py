"""Messages ↔ bytes: JSON, with limits on size and depth that are checked before it is decoded."""

from __future__ import annotations

import re
import zlib
from functools import cache
from typing import TypeVar, cast

import msgspec

from saltern.fleet.protocol.message import VERSION, Message
from saltern.fleet.protocol.messages import KINDS, MESSAGES

MAX_DEPTH = 64
MAX_BODY = 64 * 1024 * 1024  # of a whole return, unpacked
PART = 384 * 1024  # of a body in one message; base64 makes a third more of it
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_OTHER = bytes(byte for byte in range(256) if byte not in b"[]{}")

M = TypeVar("M", bound=Message)


class BadMessage(Exception):
    """The data is not a message; ``reason`` is one word of ``REASONS``."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{REASONS[reason]}{': ' if detail else ''}{detail}")
        self.reason = reason


REASONS = {
    "too-large": "the message is too large",
    "too-deep": f"the message is nested deeper than {MAX_DEPTH} levels",
    "newer": "the message is written for a newer version; upgrade this side",
    "malformed": "the message is malformed",
}


def encode(message: Message) -> bytes:
    """The bytes of a message; ``BadMessage`` if it is larger than a reader would accept."""
    data = msgspec.json.encode(message)
    limit = MESSAGES[KINDS[type(message)]].limit
    if len(data) > limit:
        raise BadMessage("too-large", f"{len(data)} bytes, and {limit} are allowed")
    return data


def decode(shape: type[M], data: bytes) -> M:
    """The message of this type. Raises ``BadMessage`` for any other bytes, including hostile ones."""
    limit = MESSAGES[KINDS[shape]].limit
    if len(data) > limit:
        raise BadMessage("too-large", f"{len(data)} bytes, and {limit} are allowed")
    check_depth(data)
    try:
        message = cast(M, _decoder(shape).decode(data))
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as problem:
        if _is_newer(data):
            raise BadMessage("newer") from None
        raise BadMessage("malformed", str(problem)[:200]) from None
    if message.v > VERSION:
        raise BadMessage("newer", f"version {message.v}, and {VERSION} is known here")
    return message


@cache
def _decoder(shape: type[Message]) -> msgspec.json.Decoder[Message]:
    return msgspec.json.Decoder(shape)


def _is_newer(data: bytes) -> bool:
    """True for a message of a later version, whose shape may differ but which has its version."""
    try:
        return _decoder(Message).decode(data).v > VERSION
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError):
        return False


def check_depth(data: bytes) -> None:
    """Refuse data that is nested too deeply, in time linear in its size."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return
    depth = 0
    for byte in _STRING.sub(b"", data).translate(None, _OTHER):
        depth += 1 if byte in b"[{" else -1
        if depth > MAX_DEPTH:
            raise BadMessage("too-deep")


# -- bodies that may be long -----------------------------------------------------------------------


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """The packed data of a return: its encoding, its unpacked size, and its parts."""

    encoding: str
    size: int
    parts: tuple[bytes, ...]


def pack_body(value: object, *, limit: int = MAX_BODY) -> Body:
    """Compress data if that helps, and split it into parts; ``BadMessage`` if it is longer than ``limit``."""
    data = msgspec.json.encode(value)
    if len(data) > limit:
        raise BadMessage("too-large", f"the body has {len(data)} bytes, and {limit} are allowed")
    packed = zlib.compress(data, 6) if len(data) > 1024 else data
    encoding = "json" if packed is data else "json+zlib"
    parts = tuple(packed[start : start + PART] for start in range(0, len(packed), PART))
    return Body(encoding=encoding, size=len(data), parts=parts)


def unpack_body(body: Body, *, limit: int = MAX_BODY) -> object:
    """The unpacked data. A body longer than it declares, or than ``limit``, is refused without
    being built.
    """
    if body.size > limit:
        raise BadMessage("too-large", f"the body has {body.size} bytes, and {limit} are allowed")
    data = b"".join(body.parts)
    if body.encoding == "json+zlib":
        data = _inflate(data, body.size)
    if len(data) != body.size:
        raise BadMessage("malformed", "the length of the body differs from the declared one")
    check_depth(data)
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as problem:
        raise BadMessage("malformed", str(problem)[:200]) from None


def _inflate(packed: bytes, size: int) -> bytes:
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(packed, size + 1)
    except zlib.error:
        raise BadMessage("malformed", "the body cannot be decompressed") from None
    if not stream.eof or stream.unused_data:
        raise BadMessage("malformed", "the length of the body differs from the declared one")
    return data
