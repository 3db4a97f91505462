"""Network names of this machine. Queries to a name server time out after a second."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from saltern.config.settings import Settings
from saltern.facts import probe

T = TypeVar("T")

_LIMIT = 1.0


def full(_: Settings) -> dict[str, object]:
    name = fqdn()
    return {"fqdn": name, "domain": name.partition(".")[2]}


def fqdn() -> str:
    """The full name: the host name if it has dots, else from /etc/hosts or a name server."""
    name = os.uname().nodename or "localhost.localdomain"
    if "." in name:
        return name
    known = in_hosts(probe.read("/etc/hosts"), name)
    if known:
        return next((alias for alias in known[0][1] if "." in alias), name)
    return within(_ask_fqdn, name)


def in_hosts(text: str, name: str) -> list[tuple[str, list[str]]]:
    """Address and names of each line of /etc/hosts that contains ``name``."""
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    return [(words[0], words[1:]) for words in lines if name in words[1:]]


def _ask_fqdn() -> str:
    import socket

    return socket.getfqdn()


def full_addresses(_: Settings) -> dict[str, object]:
    """The addresses of the full name, from /etc/hosts or a name server."""
    name = fqdn()
    known = [address for address, _names in in_hosts(probe.read("/etc/hosts"), name)]
    if not known:
        known = within(lambda: _ask_addresses(name), [])
    unique = list(dict.fromkeys(known))
    return {
        "fqdn_ip4": [address for address in unique if ":" not in address],
        "fqdn_ip6": [address for address in unique if ":" in address],
    }


def _ask_addresses(name: str) -> list[str]:
    import socket

    return [str(info[4][0]) for info in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)]


def all_names(settings: Settings) -> dict[str, object]:
    """The names of this machine's addresses, except loopback."""
    if settings.extra.get("enable_fqdns_grains") is False:
        return {"fqdns": []}
    from saltern.facts.network import interfaces

    addresses = [
        address
        for name, each in interfaces().items()
        if name != "lo"
        for address in (*each.inet, *each.others, *each.inet6)
        if not address.startswith("fe80")
    ]
    found: list[str] = []
    within(lambda: _ask_names(addresses, found), None)
    return {"fqdns": sorted(set(found))}


def _ask_names(addresses: list[str], found: list[str]) -> None:
    import socket

    for address in addresses:
        try:
            name, aliases, _ = socket.gethostbyaddr(address)
        except OSError:
            continue
        found += [each for each in (name, *aliases) if "." in each]


def within(ask: Callable[[], T], otherwise: T) -> T:
    """The answer of ``ask`` if it comes in time, else ``otherwise``.

    A resolver cannot be interrupted, so a slow one is left in its thread.
    """
    from threading import Thread

    answers: list[T] = []

    def work() -> None:
        try:
            answers.append(ask())
        except (OSError, UnicodeError):
            pass

    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join(_LIMIT)
    return answers[0] if answers else otherwise
