"""``network``: the connections of this machine, as the kernel lists them."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function

PROTOCOLS = ("tcp", "tcp6", "udp", "udp6")
STATES = (
    "",
    "ESTABLISHED",
    "SYN_SENT",
    "SYN_RECV",
    "FIN_WAIT1",
    "FIN_WAIT2",
    "TIME_WAIT",
    "CLOSE",
    "CLOSE_WAIT",
    "LAST_ACK",
    "LISTEN",
    "CLOSING",
)


class Connection(Struct, frozen=True):
    protocol: str
    local: tuple[str, int]
    remote: tuple[str, int]
    state: str
    received: int
    sent: int
    user: str
    inode: str


def connections(protocol: str) -> Iterator[Connection]:
    """The rows of /proc/net for one protocol; none without such a file."""
    try:
        with open(f"/proc/net/{protocol}", encoding="ascii") as file:
            rows = [line.split() for line in file][1:]
    except OSError:
        return
    for row in rows:
        number = int(row[3], 16)
        sent, _, received = row[4].partition(":")
        yield Connection(
            protocol,
            _end(row[1]),
            _end(row[2]),
            STATES[number] if number < len(STATES) else "",
            int(received, 16),
            int(sent, 16),
            row[7],
            row[9],
        )


def _end(text: str) -> tuple[str, int]:
    """The address and port: ``0100007F:0016`` is 127.0.0.1, port 22; each four bytes are reversed."""
    from ipaddress import ip_address

    host, _, port = text.partition(":")
    words = (bytes.fromhex(host[at : at + 8])[::-1] for at in range(0, len(host), 8))
    return str(ip_address(b"".join(words))), int(port, 16)


def _owners() -> dict[str, str]:
    """The owners of sockets: inode → ``pid/program``, for the processes that we may read."""
    found: dict[str, str] = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            numbers = os.listdir(f"/proc/{pid}/fd")
            with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
                name = file.read().strip()
        except OSError:
            continue  # it has ended, or we may not read it
        links = (_link(f"/proc/{pid}/fd/{number}") for number in numbers)
        found |= {link[8:-1]: f"{pid}/{name}" for link in links if link.startswith("socket:[")}
    return found


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""  # closed since


@function
def netstat(ctx: Context) -> list[dict[str, str]]:
    """All TCP and UDP sockets: their addresses, state, user and program.

    Example:
        ```console
        $ saltern call network.netstat
        ```
    """
    owners = _owners()
    return [_row(one, owners) for protocol in PROTOCOLS for one in connections(protocol)]


def _row(one: Connection, owners: dict[str, str]) -> dict[str, str]:
    state = {"state": one.state} if one.protocol.startswith("tcp") else {}
    return {
        "proto": one.protocol,
        "recv-q": str(one.received),
        "send-q": str(one.sent),
        "local-address": _format_end(one.local),
        "remote-address": _format_end(one.remote),
        **state,
        "user": one.user,
        "inode": one.inode,
        "program": owners.get(one.inode, "-"),
    }


def _format_end(end: tuple[str, int]) -> str:
    return f"{end[0]}:{end[1] or '*'}"


@function
def active_tcp(ctx: Context) -> dict[int, dict[str, object]]:
    """All established TCP connections, numbered.

    Example:
        ```console
        $ saltern call network.active_tcp
        ```
    """
    every = (one for protocol in ("tcp", "tcp6") for one in connections(protocol))
    standing = (one for one in every if one.state == "ESTABLISHED")
    return {
        number: {
            "local_addr": one.local[0],
            "local_port": one.local[1],
            "remote_addr": one.remote[0],
            "remote_port": one.remote[1],
        }
        for number, one in enumerate(standing)
    }
