"""What goes over a connection to the broker: messages with their headers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from saltern.fleet.bus.ports import NO_HEADERS

VERSION = "NATS/1.0"
_BREAKS = re.compile(r"[\r\n]+")
_SPACE = re.compile(r"[ \t\r\n]")


def is_subject(text: str) -> bool:
    """False for what would be read as something else than the subject of a message."""
    return bool(text) and _SPACE.search(text) is None


def text(raw: bytes) -> str:
    """A subject as it came over the wire: the broker takes any bytes, and who sends them may be hostile."""
    return raw.decode(errors="replace")


def header_block(headers: Mapping[str, str]) -> bytes:
    """Headers as the broker reads them, which counts them as part of a message; none without headers."""
    if not headers:
        return b""
    lines = "".join([f"{name}: {_BREAKS.sub(' ', value)}\r\n" for name, value in headers.items()])
    return f"{VERSION}\r\n{lines}\r\n".encode()


def command(subject: str, reply: str, data: bytes, head: bytes) -> bytes:
    """What the broker reads: a message with the block of its headers."""
    if not head:
        return b"PUB %b %b %d\r\n%b\r\n" % (subject.encode(), reply.encode(), len(data), data)
    size = len(head)
    return b"HPUB %b %b %d %d\r\n%b%b\r\n" % (
        subject.encode(),
        reply.encode(),
        size,
        size + len(data),
        head,
        data,
    )


def read_headers(raw: bytes) -> tuple[Mapping[str, str], int]:
    """The headers of a message, and the status that the broker puts before them; 0 if there is none.

    Any bytes are read: an agent may send whatever it likes as headers.
    """
    if not raw:
        return NO_HEADERS, 0
    first, *lines = text(raw).split("\r\n")
    status = first.removeprefix(VERSION).strip()[:3]
    pairs = [line.partition(":") for line in lines if ":" in line]
    code = int(status) if status.isascii() and status.isdigit() else 0
    return {name.strip(): value.strip() for name, _, value in pairs}, code
