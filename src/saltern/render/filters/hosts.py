"""Filters on MAC addresses and host names."""

from __future__ import annotations

import os


def gen_mac(prefix: str = "AC:DE:48") -> str:
    """A MAC address of ``prefix`` and random bytes."""
    tail = ":".join(f"{byte:02X}" for byte in (os.urandom(1)[0] & 0x7F, *os.urandom(2)))
    return f"{prefix}:{tail}"


def mac_str_to_bytes(mac_str: str) -> bytes:
    """Six bytes from ``00:11:22:33:44:55``, also with dashes or without separators."""
    digits = mac_str.replace(mac_str[2], "") if len(mac_str) == 17 else mac_str
    try:
        octets = bytes.fromhex(digits)
    except ValueError:
        octets = b""
    if len(octets) != 6:
        raise ValueError(f"{mac_str!r} is not a MAC address; write it like 00:11:22:33:44:55")
    return octets


def dns_check(addr: str, port: int, safe: bool = False, ipv6: bool | None = None) -> str:  # noqa: ARG001
    """The address of a host: one that answers on ``port``, or else the first; IPv6 in brackets.

    ``ipv6`` true or false prefers that kind; the default is IPv4.
    """
    import socket

    try:
        found = socket.getaddrinfo(addr, int(port), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise ValueError(f"no address is known for {addr!r}: {problem}") from None
    preferred = socket.AF_INET6 if ipv6 else socket.AF_INET
    found.sort(key=lambda entry: entry[0] != preferred)
    best = next((entry for entry in found if len(found) > 1 and _answers(entry[0], entry[4])), found[0])
    return f"[{best[4][0]}]" if best[0] == socket.AF_INET6 else str(best[4][0])


def _answers(family: int, place: object) -> bool:
    import socket

    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(2)
        return probe.connect_ex(place) == 0  # type: ignore[arg-type]
