"""The machine of a controller: its names, and free ports."""

from __future__ import annotations

import socket
from contextlib import suppress

LOOPBACK = ("localhost", "127.0.0.1")
_ELSEWHERE = ("192.0.2.1", 9)  # an address for documentation: nothing is sent there


def names_of_machine(host: str) -> tuple[str, ...]:
    """The names by which agents reach this machine: its name and its address, or the given host if it is one
    address.
    """
    if host in ("127.0.0.1", "localhost", "::1"):
        return LOOPBACK
    if host not in ("0.0.0.0", "::"):
        return (host,)
    found = [socket.getfqdn(), _address()]
    return (
        tuple(dict.fromkeys(name for name in found if name and not name.startswith("localhost"))) or LOOPBACK
    )


def _address() -> str:
    """The address with which this machine would reach others."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_ELSEWHERE)
        return str(probe.getsockname()[0])
    return ""


def bracket_host(host: str) -> str:
    """A host as part of an address."""
    return f"[{host}]" if ":" in host else host


def free_port(host: str) -> int:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
