"""Ports: ``8080:80``, ``127.0.0.1:8000-8010:9000-9010/udp`` → the form of the engine's API."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers.values import address, items, text

PROTOCOLS = ("tcp", "udp", "sctp")
LAST = 65535

Bindings = dict[str, list[dict[str, str]]]


def exposed_ports(value: object) -> dict[str, dict[str, str]]:
    """``80``, ``53/udp``, ``3000-3010``: ``{80/tcp: {}}``."""
    return {f"{port}/{kind}": {} for one in items(value) for ports, kind in [_ports(one)] for port in ports}


def bindings(value: object, *, validate: bool = True) -> Bindings:
    """``port``, ``host:port`` or ``ip:host:port``; or ``{port: host}`` with lists and ``[ip, host]``."""
    found: Bindings = {}
    for one in items(value):
        rows = _from_mapping(one) if isinstance(one, Mapping) else _from_text(text(one))
        for port, ip, host in rows:
            if ip and validate:
                address(ip)
            found.setdefault(port, []).append({"HostIp": ip, "HostPort": host})
    return found


def _from_text(line: str) -> list[tuple[str, str, str]]:
    line, has_kind, kind = line.partition("/")
    head, _, inner = line.rpartition(":")
    ip, _, outer = head.rpartition(":")
    ports, protocol = _ports(inner + has_kind + kind)
    hosts: list[str] = [""] * len(ports)
    if outer:
        numbers, _ = _ports(outer)
        if len(numbers) != len(ports):
            raise Refused(f"has {len(numbers)} ports outside and {len(ports)} inside: {line!r}")
        hosts = [str(one) for one in numbers]
    elif head == "" and line.startswith(":"):
        raise Refused(f"needs port, host:port or ip:host:port, got {line!r}")
    return [(f"{port}/{protocol}", ip.strip("[]"), host) for port, host in zip(ports, hosts, strict=True)]


def _from_mapping(given: Mapping[object, object]) -> list[tuple[str, str, str]]:
    found = []
    for inner, outer in given.items():
        ports, protocol = _ports(inner)
        several = outer if isinstance(outer, list) and not _is_pair(outer) else [outer]
        found += [(f"{port}/{protocol}", *_outside(one)) for port in ports for one in several]
    return found


def _is_pair(value: object) -> bool:
    """True for ``[ip, port]``, which is one binding, not two ports."""
    first = value[0] if isinstance(value, list | tuple) and value else None
    return isinstance(first, str) and any(sign in first for sign in ".:")


def _outside(value: object) -> tuple[str, str]:
    if isinstance(value, Mapping):
        return str(value.get("HostIp") or ""), str(value.get("HostPort") or "")
    if isinstance(value, list | tuple):
        ip, host, *_ = (*map(str, value), "", "")
        return ip, host
    ip, _, host = ("" if value is None else text(value)).rpartition(":")
    return ip, host


def _ports(value: object) -> tuple[list[int], str]:
    numbers, _, kind = text(value).partition("/")
    first, _, last = numbers.partition("-")
    try:
        low, high = int(first), int(last or first)
    except ValueError:
        raise Refused(f"needs a port such as 80, 53/udp or 8000-8010, got {value!r}") from None
    if not 0 < low <= high <= LAST:
        raise Refused(f"needs ports from 1 to {LAST}, the lower first; got {value!r}")
    if (kind or "tcp").lower() not in PROTOCOLS:
        raise Refused(f"needs {', '.join(PROTOCOLS)} after the port, not {kind!r}")
    return list(range(low, high + 1)), (kind or "tcp").lower()
