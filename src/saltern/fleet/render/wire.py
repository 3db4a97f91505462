"""The wire format of rendering requests and answers, for both sides."""

from __future__ import annotations

import zlib

MOST = 16 << 20  # bytes, unpacked


class BadPack(Exception):
    """A pack that cannot be unpacked, or is too large."""


def purpose_of(jid: str) -> str:
    """The purpose of a sealed answer, which includes its job."""
    return f"render {jid}"


def pack(data: bytes) -> bytes:
    return zlib.compress(data, 1)


def unpack(data: bytes) -> bytes:
    """What was packed. Raises ``BadPack``."""
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(data, MOST)
    except zlib.error as problem:
        raise BadPack(str(problem)) from None
    if stream.unconsumed_tail or not stream.eof:
        raise BadPack(f"it is cut off, or larger than {MOST:,} bytes")
    return found
