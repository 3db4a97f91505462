"""``dig``: query name servers with the program ``dig``."""

from __future__ import annotations

import re

from saltern.modules.api.commands import execute
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument

SHORTEST = {4: 1, 6: 8}  # prefixes of networks that count as addresses
SPF_PART = re.compile(r"[+~]?(ip[46]|include):(.+)")
MOST_INCLUDES = 10  # the limit of RFC 7208: a record may include itself


@function
def check_ip(ctx: Context, addr: object) -> bool:  # noqa: ARG001
    """True if it is an address, or a network such as ``10.0.0.0/8``.

    Example:
        ```console
        $ saltern call dig.check_ip 10.0.0.0/8
        local:
            True
        ```
    """
    return is_address(addr)


def is_address(addr: object) -> bool:
    from ipaddress import ip_address

    if not isinstance(addr, str):
        return False
    host, slash, prefix = addr.partition("/")
    try:
        found = ip_address(host)
    except ValueError:
        return False
    whole = found.max_prefixlen
    return not slash or (prefix.isdigit() and SHORTEST[found.version] <= int(prefix) <= whole)


def _ask(ctx: Context, *words: object, nameserver: str | None) -> list[str]:
    """The lines that dig prints; none if it fails."""
    asked = [str(word) for word in (*words, *([f"@{nameserver}"] if nameserver else []))]
    names = [word for word in asked if word != "-x"]
    for word in names:
        if not word or word[0] in "-+" or word == "@":
            raise BadArgument(f"dig cannot query {word!r}: it is not a name")
    done = execute(ctx, ["dig", "+short", *asked])
    return done.stdout.splitlines() if done.retcode == 0 else []


@function
def A(ctx: Context, host: str, nameserver: str | None = None) -> list[str]:
    """The IPv4 addresses of a name.

    Example:
        ```console
        $ saltern call dig.A www.example.org
        ```
    """
    return [line for line in _ask(ctx, host, "A", nameserver=nameserver) if is_address(line)]


@function
def AAAA(ctx: Context, host: str, nameserver: str | None = None) -> list[str]:
    """The IPv6 addresses of a name.

    Example:
        ```console
        $ saltern call dig.AAAA www.example.org
        ```
    """
    return [line for line in _ask(ctx, host, "AAAA", nameserver=nameserver) if is_address(line)]


@function
def PTR(ctx: Context, host: str, nameserver: str | None = None) -> list[str]:
    """The names of an address.

    Example:
        ```console
        $ saltern call dig.PTR 192.0.2.7
        ```
    """
    return _ask(ctx, "-x", host, nameserver=nameserver)


@function
def CNAME(ctx: Context, host: str, nameserver: str | None = None) -> str:
    """The canonical name of an alias.

    Example:
        ```console
        $ saltern call dig.CNAME www.example.org
        ```
    """
    return "\n".join(_ask(ctx, host, "CNAME", nameserver=nameserver))


@function
def NS(ctx: Context, domain: str, resolve: bool = True, nameserver: str | None = None) -> list[str]:
    """The name servers of a domain: their addresses, or with ``resolve=False`` their names.

    Example:
        ```console
        $ saltern call dig.NS example.org resolve=False
        ```
    """
    names = _ask(ctx, domain, "NS", nameserver=nameserver)
    return [address for name in names for address in A(ctx, name, nameserver)] if resolve else names


@function
def MX(ctx: Context, domain: str, resolve: bool = False, nameserver: str | None = None) -> list[list[str]]:
    """The mail servers of a domain, each after its priority.

    Example:
        ```console
        $ saltern call dig.MX example.org
        ```
    """
    rows = [line.split() for line in _ask(ctx, domain, "MX", nameserver=nameserver)]
    if not resolve:
        return rows
    return [[row[0], address] for row in rows for address in A(ctx, row[1], nameserver)[:1]]


@function
def TXT(ctx: Context, host: str, nameserver: str | None = None) -> list[str]:
    """The TXT records of a name, quoted as dig prints them.

    Example:
        ```console
        $ saltern call dig.TXT example.org
        ```
    """
    return _ask(ctx, host, "TXT", nameserver=nameserver)


@function
def SPF(ctx: Context, domain: str, record: str = "SPF", nameserver: str | None = None) -> list[str]:
    """The addresses that may send mail for a domain, including referenced ones. Falls back to TXT records.

    Example:
        ```console
        $ saltern call dig.SPF example.org
        ```
    """
    return _senders(ctx, domain, record, nameserver, MOST_INCLUDES)


def _senders(ctx: Context, domain: str, record: str, nameserver: str | None, left: int) -> list[str]:
    lines = _ask(ctx, domain, record, nameserver=nameserver)
    if not lines and record == "SPF":
        return _senders(ctx, domain, "TXT", nameserver, left)
    sections = " ".join(lines).replace('"', "").split()
    if sections[:1] != ["v=spf1"] or not left:
        return []
    found: list[str] = []
    for section in sections[1:]:
        part = SPF_PART.fullmatch(section)
        if section.startswith("redirect="):
            found += _senders(ctx, section[9:], "SPF", nameserver, left - 1)
        elif part and part[1] == "include":
            found += _senders(ctx, part[2], "SPF", nameserver, left - 1)
        elif part and is_address(part[2]):
            found.append(part[2])
    return found


a, aaaa, ptr, cname, ns, mx, txt, spf = A, AAAA, PTR, CNAME, NS, MX, TXT, SPF
