"""Hosts without a file: addresses in a list, and the names in a configuration of ssh."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.roster.problems import Page
from saltern.fleet.ssh.roster.ranges import expand
from saltern.fleet.ssh.roster.values import BadValue, port
from saltern.language.diagnostics import Diagnostic, OperationError

_V6 = r"[0-9a-fA-F]*:[0-9a-fA-F:]*:[0-9a-fA-F:.]*(?:%\w+)?"
_NAME = r"(?:[^\s,@:\[\]]|\[[0-9a-zA-Z:]+\])+"
_ADDRESS = re.compile(
    rf"(?:(?P<user>[^@\s,]+)@)?(?:\[(?P<v6>{_V6})\]|(?P<bare>{_V6})|(?P<name>{_NAME}))(?::(?P<port>[0-9]+))?"
)
_WILD = set("*?!")


def read_list(text: str) -> Iterator[Host]:
    """The hosts of ``user@name:port,name,…``. Raises ``OperationError``."""
    for word in filter(None, re.split(r"[,\s]+", text)):
        found = _ADDRESS.fullmatch(word)
        if found is None or word.startswith("-"):
            raise _wrong(f"{word!r} is no address", "write name, user@name, name:port or [IPv6]:port")
        try:
            names = list(expand(found["name"])) if found["name"] else [found["v6"] or found["bare"]]
            number = port(found["port"]) if found["port"] else None
        except BadValue as problem:
            raise _wrong(f"{word!r} must be {problem}") from None
        for name in names:
            yield Host(id=name, address=name, user=found["user"] or "", port=number)


def _wrong(what: str, fix: str = "") -> OperationError:
    return OperationError(Diagnostic(code="roster-address", what=what, fix=fix))


def is_ssh_config(text: str) -> bool:
    """True if the first word of the text is one with which a configuration of ssh begins."""
    words = (line.split(None, 1)[0].lower() for line in text.splitlines() if line.strip() and line[0] != "#")
    return next(words, "") in ("host", "match", "include")


def read_ssh_config(page: Page) -> Iterator[Host]:
    """The names of a configuration of ssh that stand for one host each: how they are reached, ssh knows.

    A name may come several times, and counts once.
    """
    names: set[str] = set()
    for host in _names(page, ()):
        if host.id not in names:
            names.add(host.id)
            yield host


def _names(page: Page, above: tuple[str, ...]) -> Iterator[Host]:
    for number, line in enumerate(page.text.splitlines(), 1):
        key, _, rest = line.strip().replace("=", " ", 1).partition(" ")
        if key.lower() == "host":
            for name in rest.split():
                if not set(name) & _WILD:
                    yield Host(id=name, address=name, where=page.line(number))
        elif key.lower() == "include":
            yield from _included(page, rest.split(), (*above, page.file))


def _included(page: Page, patterns: list[str], above: tuple[str, ...]) -> Iterator[Host]:
    from glob import glob

    for pattern in patterns:
        path = os.path.join(os.path.dirname(page.file), os.path.expanduser(pattern.strip('"')))
        for file in sorted(glob(path)):
            if file in above or not os.path.isfile(file):
                continue
            with open(file, encoding="utf-8", errors="replace") as stream:
                inner = Page(file, stream.read(), page.found)
            yield from _names(inner, above)
