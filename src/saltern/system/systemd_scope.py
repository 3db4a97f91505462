"""Puts this process into a control group of its own, as a scope of systemd: what stops a service then leaves
it alone.

``systemd-run --scope`` does the same for a program that it starts. A running process must ask the manager
itself, in one D-Bus message over the manager's own socket, which only root can use.
"""

from __future__ import annotations

import os
import socket
import struct
import time

MANAGER = "/run/systemd/private"
WAIT = 5.0  # seconds for a reply, and for the move that follows it
STEP = 0.002
HEAD = 16  # bytes of a message before its fields
CALL, RETURN = 1, 2  # kinds of messages


def enter(unit: str, manager: str = MANAGER) -> bool:
    """Move this process into a new scope; False if systemd does not do it."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(WAIT)
            line.connect(manager)
            line.sendall(_login(os.geteuid()) + request(unit, os.getpid()))
            return _is_agreed(line) and _is_moved(unit)
    except (OSError, struct.error):
        return False


def _login(uid: int) -> bytes:
    return b"\0AUTH EXTERNAL %s\r\nBEGIN\r\n" % str(uid).encode().hex().encode()


def request(unit: str, pid: int) -> bytes:
    """The call of ``StartTransientUnit`` for a scope with this process. Pure."""
    properties = _Writer()
    for name, kind, value in (("PIDs", b"au", struct.pack("<II", 4, pid)), ("CollectMode", b"s", b"")):
        properties.align(8)
        properties.text(name)
        properties.signature(kind)
        properties.align(4)
        properties.data += value or _string("inactive-or-failed")
    body = _Writer()
    body.text(unit)
    body.text("fail")
    body.array(bytes(properties.data))
    body.array(b"")  # no further units
    return _message(bytes(body.data))


def _message(body: bytes) -> bytes:
    fields = _Writer()
    for code, kind, value in (
        (1, b"o", "/org/freedesktop/systemd1"),
        (2, b"s", "org.freedesktop.systemd1.Manager"),
        (3, b"s", "StartTransientUnit"),
        (6, b"s", "org.freedesktop.systemd1"),
        (8, b"g", ""),
    ):
        fields.align(8)
        fields.data.append(code)
        fields.signature(kind)
        if kind == b"g":
            fields.signature(b"ssa(sv)a(sa(sv))")
        else:
            fields.text(value)
    head = _Writer()
    head.data += struct.pack("<BBBBIII", ord("l"), CALL, 0, 1, len(body), 1, len(fields.data)) + fields.data
    head.align(8)
    return bytes(head.data) + body


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<I", len(data)) + data + b"\0"


class _Writer:
    """Writes values in the format of D-Bus, each at a multiple of its size."""

    def __init__(self) -> None:
        self.data = bytearray()

    def align(self, size: int) -> None:
        self.data += bytes(-len(self.data) % size)

    def text(self, text: str) -> None:
        self.align(4)
        self.data += _string(text)

    def signature(self, text: bytes) -> None:
        self.data += bytes([len(text)]) + text + b"\0"

    def array(self, items: bytes) -> None:
        """Write an array of structures, which begin at a multiple of eight."""
        self.align(4)
        self.data += struct.pack("<I", len(items))
        self.align(8)
        self.data += items


def _is_agreed(line: socket.socket) -> bool:
    """True if the call returns a result; signals that come before it are skipped."""
    file = line.makefile("rb")
    if not file.readline().startswith(b"OK "):
        return False
    while True:
        head = file.read(HEAD)
        kind, size, fields = struct.unpack("<xBxxIxxxxI", head)
        file.read(-(-fields // 8) * 8 + size)
        if kind in (RETURN, RETURN + 1):
            return bool(kind == RETURN)


def _is_moved(unit: str) -> bool:
    """True once the kernel reports that this process is there; systemd replies before it has moved it."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        with open("/proc/self/cgroup") as file:
            if f"/{unit}" in file.read():
                return True
        time.sleep(STEP)
    return False
