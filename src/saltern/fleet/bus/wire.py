"""The wire format of messages and their headers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from saltern.fleet.bus.ports import NO_HEADERS

VERSION = "NATS/1.0"
BLOCK = 1024 * 1024  # bytes of messages that are joined, at most
_PLAIN = b"NATS/1.0\r\n"  # without a status
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


def command_blocks(subjects: Sequence[str], data: bytes) -> Iterator[bytes]:
    """The commands that publish the same data to many subjects, in blocks: all of them together could fill
    the memory.
    """
    rest = b" %d\r\n%b\r\n" % (len(data), data)
    at_once = max(1, BLOCK // len(rest))
    for first in range(0, len(subjects), at_once):
        some = subjects[first : first + at_once]
        yield b"".join([b"PUB %b%b" % (one.encode(), rest) for one in some])


def read_headers(raw: bytes) -> tuple[Mapping[str, str], int]:
    """The headers of a message, and the status that the broker puts first; 0 if there is none.

    Any bytes are read: an agent may send whatever it likes as headers.
    """
    if not raw:
        return NO_HEADERS, 0
    if raw.startswith(_PLAIN):
        return Headers(raw), 0
    first = text(raw).split("\r\n", 1)[0]
    status = first.removeprefix(VERSION).strip()[:3]
    return Headers(raw), int(status) if status.isascii() and status.isdigit() else 0


class Headers(Mapping[str, str]):
    """The headers of a message, decoded at the first look at one: those of most messages never are."""

    __slots__ = ("_found", "_raw")

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._found: dict[str, str] | None = None

    def _all(self) -> dict[str, str]:
        if self._found is None:
            lines = text(self._raw).split("\r\n")[1:]
            pairs = [line.partition(":") for line in lines if ":" in line]
            self._found = {name.strip(): value.strip() for name, _, value in pairs}
        return self._found

    def __getitem__(self, name: str) -> str:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())
