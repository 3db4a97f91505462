"""Hosts without a file: addresses in a list."""

from __future__ import annotations

import re
from collections.abc import Iterator

from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.roster.ranges import expand
from saltern.fleet.ssh.roster.values import BadValue, port
from saltern.language.diagnostics import Diagnostic, OperationError

_V6 = r"[0-9a-fA-F]*:[0-9a-fA-F:]*:[0-9a-fA-F:.]*(?:%\w+)?"
_NAME = r"(?:[^\s,@:\[\]]|\[[0-9a-zA-Z:]+\])+"
_ADDRESS = re.compile(
    rf"(?:(?P<user>[^@\s,]+)@)?(?:\[(?P<v6>{_V6})\]|(?P<bare>{_V6})|(?P<name>{_NAME}))(?::(?P<port>[0-9]+))?"
)


def read_list(text: str) -> Iterator[Host]:
    """The hosts of ``user@name:port,name,…``. Raises ``OperationError``."""
    for word in filter(None, re.split(r"[,\s]+", text)):
        found = _ADDRESS.fullmatch(word)
        if found is None or word.startswith("-"):
            raise _wrong(f"{word!r} is not an address", "write name, user@name, name:port or [IPv6]:port")
        try:
            names = list(expand(found["name"])) if found["name"] else [found["v6"] or found["bare"]]
            number = port(found["port"]) if found["port"] else None
        except BadValue as problem:
            raise _wrong(f"{word!r} must be {problem}") from None
        for name in names:
            yield Host(id=name, address=name, user=found["user"] or "", port=number)


def _wrong(what: str, fix: str = "") -> OperationError:
    return OperationError(Diagnostic(code="roster-address", what=what, fix=fix))
