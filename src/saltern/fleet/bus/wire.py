"""The wire format of messages and their headers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from saltern.fleet.bus.ports import NO_HEADERS

VERSION = "NATS/1.0"
_BREAKS = re.compile(r"[\r\n]+")
_SPACE = re.compile(r"[ \t\r\n]")


def is_subject(text: str) -> bool:
    """False for text that the broker would not read as the subject of a message."""
    return bool(text) and _SPACE.search(text) is None


def text(raw: bytes) -> str:
    """A subject from the wire as text: the broker accepts any bytes, and their sender may be hostile."""
    return raw.decode(errors="replace")


def header_block(headers: Mapping[str, str]) -> bytes:
    """The bytes of headers, which the broker counts as part of a message; empty without headers."""
    if not headers:
        return b""
    lines = "".join([f"{name}: {_BREAKS.sub(' ', value)}\r\n" for name, value in headers.items()])
    return f"{VERSION}\r\n{lines}\r\n".encode()


def command(subject: str, reply: str, data: bytes, head: bytes) -> bytes:
    """The command that publishes a message with its header block."""
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
    """The headers of a message, and the status that the broker puts first; 0 if there is none.

    Any bytes are read: an agent may send whatever it likes as headers.
    """
    if not raw:
        return NO_HEADERS, 0
    first, *lines = text(raw).split("\r\n")
    status = first.removeprefix(VERSION).strip()[:3]
    pairs = [line.partition(":") for line in lines if ":" in line]
    code = int(status) if status.isascii() and status.isdigit() else 0
    return {name.strip(): value.strip() for name, _, value in pairs}, code
