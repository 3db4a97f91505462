"""``dnsutil``: names and addresses, from name servers, hosts files and zone files."""

from __future__ import annotations

from shutil import which
from time import strftime

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import one_line
from saltern.modules.functions import dig
from saltern.system import files

SECONDS = {"S": 1, "M": 60, "H": 3600, "D": 86400, "W": 604800}
SOA = ("SERIAL", "REFRESH", "RETRY", "EXPIRE", "MINTTL")
LONGEST = 604800  # Salt caps the times of a zone at a week


@function
def parse_hosts(
    ctx: Context,  # noqa: ARG001
    hostsfile: str = "/etc/hosts",
    hosts: str | None = None,
) -> dict[str, list[str]] | str:
    """The addresses in a hosts file, or in a text in that form, with their names.

    Example:
        ```console
        $ saltern call dnsutil.parse_hosts hosts='10.0.0.7 db db.example.org'
        local:
            ----------
            10.0.0.7:
                - db
                - db.example.org
        ```
    """
    text = hosts or _text(hostsfile)
    if text is None:
        return "Error: hosts data was not found"
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        words = line.split()
        if words and not line.startswith("#"):
            found.setdefault(words[0], []).extend(words[1:])
    return found


def _text(path: str) -> str | None:
    data = files.read(path)
    return None if data is None else data.decode("utf-8", "replace")


@function
def hosts_append(ctx: Context, hostsfile: str = "/etc/hosts", ip_addr: str = "", entries: str = "") -> str:
    """Add names, separated by commas, to an address in a hosts file.

    Example:
        ```console
        $ saltern call dnsutil.hosts_append /etc/hosts 10.0.0.7 db,db.example.org
        ```
    """
    known = parse_hosts(ctx, hostsfile)
    names = known.get(ip_addr, []) if isinstance(known, dict) else []
    new = [one_line(name, "the name") for name in entries.split(",") if name and name not in names]
    if not new:
        return f"No additional hosts were added to {hostsfile}"
    line = f"{one_line(ip_addr, 'the address')} {' '.join(new)}"
    before = _text(hostsfile) or ""
    files.write(
        hostsfile, f"{before}{'' if before.endswith(chr(10)) or not before else chr(10)}{line}\n".encode()
    )
    return f"The following line was added to {hostsfile}:\n{line}"


@function
def hosts_remove(ctx: Context, hostsfile: str = "/etc/hosts", entries: str = "") -> None:  # noqa: ARG001
    """Remove names, separated by commas, from a hosts file, and addresses without names.

    Example:
        ```console
        $ saltern call dnsutil.hosts_remove /etc/hosts db,db.example.org
        ```
    """
    text = _text(hostsfile)
    if text is None:
        raise BadArgument(f"there is no file {hostsfile}")
    gone = set(entries.split(","))
    lines = (_without(line, gone) for line in text.splitlines())
    files.write(hostsfile, "".join(f"{line}\n" for line in lines if line is not None).encode())


def _without(line: str, gone: set[str]) -> str | None:
    words = line.split()
    if not words or words[0].startswith("#") or gone.isdisjoint(words[1:]):
        return line
    left = [words[0], *(word for word in words[1:] if word not in gone)]
    return " ".join(left) if len(left) > 1 else None


@function
def parse_zone(ctx: Context, zonefile: str | None = None, zone: str | None = None) -> object:  # noqa: ARG001
    """A zone file, or a text in that form, as data: SOA, NS, MX and the addresses by name.

    Example:
        ```console
        $ saltern call dnsutil.parse_zone /var/lib/named/example.org.zone
        ```
    """
    text = (_text(zonefile) if zonefile else None) or zone
    if not text:
        return "Error: Zone data was not found"
    found: dict[str, object] = {}
    for line in _records(text):
        words = line.split()
        if line.startswith("$"):
            found[words[0].lstrip("$")] = words[1] if len(words) > 1 else ""
            continue
        origin = str(found.get("ORIGIN", "@"))
        _record(found, [origin if word == "@" else word for word in words], origin)
    return found


def _records(text: str) -> list[str]:
    """One line for each record, without comments; brackets join lines."""
    rows: list[str] = []
    inside = False
    for raw in text.splitlines():
        line = raw.partition(";")[0]
        blank = line[:1].isspace()
        joined = line.replace("(", " ").replace(")", " ").strip()
        if inside:
            rows[-1] += f" {joined}"
        elif joined:
            rows.append(f"IN {joined.removeprefix('IN ').lstrip()}" if blank and not inside else joined)
        inside = (inside or "(" in line) and ")" not in line
    return rows


def _record(found: dict[str, object], words: list[str], origin: str) -> None:
    name, ttl = (words.pop(0) if words[0] != "IN" else origin), ""
    if words and words[0] != "IN" and words[0][:1].isdigit():
        ttl = words.pop(0)
    network = words.pop(0) if words and words[0] == "IN" else "IN"
    if len(words) < 2:
        return
    kind, *rest = words
    if kind == "SOA" and len(rest) >= 7:
        found.update(ORIGIN=name, NETWORK=network, SOURCE=rest[0], CONTACT=rest[1].replace(".", "@", 1))
        found.update(zip(SOA, [rest[2], *map(_seconds, rest[3:7])], strict=True))
    elif kind == "NS":
        _list(found, "NS").append(rest[0])
    elif kind == "MX" and len(rest) > 1:
        _list(found, "MX").append({"priority": rest[0], "host": rest[1]})
    else:
        full = name if name.endswith(".") else f"{name}.{origin}"
        target: object = {"TARGET": rest[0], "TTL": ttl} if kind in ("A", "AAAA") else " ".join(rest)
        table = found.setdefault(kind, {})
        assert isinstance(table, dict)
        table[full] = target


def _list(found: dict[str, object], kind: str) -> list[object]:
    rows = found.setdefault(kind, [])
    assert isinstance(rows, list)
    return rows


def _seconds(text: str) -> int:
    """``1H`` → 3600, a week at most."""
    unit = text[-1:].upper()
    number, factor = (text[:-1], SECONDS[unit]) if unit in SECONDS else (text, 1)
    return min(int(number) * factor, LONGEST) if number.isdigit() else 0


@function
def check_ip(ctx: Context, ip_addr: object) -> bool:  # noqa: ARG001
    """True if it is an address, or a network such as ``10.0.0.0/8``.

    Example:
        ```console
        $ saltern call dnsutil.check_ip 10.0.0.7
        local:
            True
        ```
    """
    return dig.is_address(ip_addr)


@function
def A(ctx: Context, host: str, nameserver: str | None = None) -> object:
    """The IPv4 addresses of a name; without the program ``dig``, as this machine resolves it.

    Example:
        ```console
        $ saltern call dnsutil.A localhost
        ```
    """
    return dig.A(ctx, host, nameserver) if which("dig") else _resolve(host, nameserver, 4)


@function
def AAAA(ctx: Context, host: str, nameserver: str | None = None) -> object:
    """The IPv6 addresses of a name; without the program ``dig``, as this machine resolves it.

    Example:
        ```console
        $ saltern call dnsutil.AAAA localhost
        ```
    """
    return dig.AAAA(ctx, host, nameserver) if which("dig") else _resolve(host, nameserver, 6)


NO_DIG = "This function requires dig, which is not currently available"


def _resolve(host: str, nameserver: str | None, version: int) -> object:
    import socket

    if nameserver is not None:
        return NO_DIG
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    try:
        return [row[4][0] for row in socket.getaddrinfo(host, None, family, 0, socket.SOCK_RAW)]
    except OSError:
        return f"Unable to resolve {host}"


@function
def NS(ctx: Context, domain: str, resolve: bool = True, nameserver: str | None = None) -> object:
    """The name servers of a domain: their addresses, or with ``resolve=False`` their names.

    Example:
        ```console
        $ saltern call dnsutil.NS example.org resolve=False
        ```
    """
    return dig.NS(ctx, domain, resolve, nameserver) if which("dig") else NO_DIG


@function
def MX(ctx: Context, domain: str, resolve: bool = False, nameserver: str | None = None) -> object:
    """The mail servers of a domain, each after its priority.

    Example:
        ```console
        $ saltern call dnsutil.MX example.org
        ```
    """
    return dig.MX(ctx, domain, resolve, nameserver) if which("dig") else NO_DIG


@function
def SPF(ctx: Context, domain: str, record: str = "SPF", nameserver: str | None = None) -> object:
    """The addresses that may send mail for a domain.

    Example:
        ```console
        $ saltern call dnsutil.SPF example.org
        ```
    """
    return dig.SPF(ctx, domain, record, nameserver) if which("dig") else NO_DIG


@function
def serial(ctx: Context, zone: str = "", update: bool = False) -> str:
    """A serial number for a zone: the first one of today, or the one stored in a grain. ``update`` increments
    it.

    Example:
        ```console
        $ saltern call dnsutil.serial example.org
        ```
    """
    key = f"dnsserial_{zone}" if zone else "dnsserial"
    stored, today = str(ctx.grains.get(key) or ""), strftime("%Y%m%d01")
    if not update:
        return stored or today
    current = str(int(stored) + 1) if stored and stored >= today else today
    ctx.functions["grains.setval"](key, current)
    return current
