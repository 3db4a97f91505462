"""``dig`` and ``dnsutil``: the real program ``dig`` against a name server of the test's own, on loopback."""

from __future__ import annotations

import shutil
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.functions import dig, dnsutil

Make = Callable[..., Context]
TYPES = {1: "A", 2: "NS", 5: "CNAME", 12: "PTR", 15: "MX", 16: "TXT", 28: "AAAA", 99: "SPF"}
ZONE = {
    ("www.test", "A"): ["192.0.2.7", "192.0.2.8"],
    ("www.test", "AAAA"): ["2001:db8::7"],
    ("alias.test", "CNAME"): ["www.test"],
    ("test", "NS"): ["www.test"],
    ("test", "MX"): ["10 www.test"],
    ("test", "TXT"): ["v=spf1 ip4:192.0.2.0/24 include:more.test ~all"],
    ("more.test", "TXT"): ["v=spf1 ip6:2001:db8::/32 include:test -all"],
    ("7.2.0.192.in-addr.arpa", "PTR"): ["www.test"],
}


def _name(text: str) -> bytes:
    return b"".join(bytes([len(part)]) + part.encode() for part in text.split(".")) + b"\0"


def _data(kind: str, value: str) -> bytes:
    if kind in ("A", "AAAA"):
        return socket.inet_pton(socket.AF_INET if kind == "A" else socket.AF_INET6, value)
    if kind == "MX":
        number, _, host = value.partition(" ")
        return struct.pack(">H", int(number)) + _name(host)
    return bytes([len(value)]) + value.encode() if kind == "TXT" else _name(value)


def _answer(query: bytes) -> bytes:
    at, parts = 12, []
    while query[at]:
        parts.append(query[at + 1 : at + 1 + query[at]].decode())
        at += 1 + query[at]
    number = struct.unpack(">H", query[at + 1 : at + 3])[0]
    kind = TYPES.get(number, "")
    rows = [_data(kind, value) for value in ZONE.get((".".join(parts).lower(), kind), [])]
    head = query[:2] + struct.pack(">HHHHH", 0x8580, 1, len(rows), 0, 0)
    body = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", number, 1, 60, len(row)) + row for row in rows)
    return head + query[12 : at + 5] + body


@pytest.fixture
def server() -> Iterator[str]:
    """The words of dig name no port, so that the server takes an address of loopback that is free."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        sock.bind(("127.93.7.53", 53))
    except OSError as problem:
        pytest.skip(f"no name server can be had here: {problem}")
    sock.settimeout(0.2)
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            try:
                query, client = sock.recvfrom(4096)
            except TimeoutError:
                continue
            sock.sendto(_answer(query), client)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield "127.93.7.53"
    over.set()
    thread.join()
    sock.close()


@pytest.mark.skipif(not shutil.which("dig"), reason="no dig here")
@pytest.mark.parametrize("module", [dig, dnsutil])
def test_records_are_what_the_name_server_says(module: object, server: str, make_context: Make) -> None:
    ctx = make_context()

    def ask(name: str, *args: object, **more: object) -> object:
        return getattr(module, name)(ctx, *args, nameserver=server, **more)

    assert sorted(ask("A", "www.test")) == ["192.0.2.7", "192.0.2.8"]  # type: ignore[call-overload]
    assert ask("A", "none.test") == []
    assert ask("AAAA", "www.test") == ["2001:db8::7"]
    assert ask("NS", "test", resolve=False) == ["www.test."]
    assert sorted(ask("NS", "test")) == ["192.0.2.7", "192.0.2.8"]  # type: ignore[call-overload]
    assert ask("MX", "test") == [["10", "www.test."]]
    assert ask("MX", "test", resolve=True) in ([["10", "192.0.2.7"]], [["10", "192.0.2.8"]])
    assert ask("SPF", "test")[:2] == ["192.0.2.0/24", "2001:db8::/32"]  # type: ignore[index]


@pytest.mark.skipif(not shutil.which("dig"), reason="no dig here")
def test_the_records_that_only_dig_has(server: str, make_context: Make) -> None:
    ctx = make_context()
    assert dig.PTR(ctx, "192.0.2.7", nameserver=server) == ["www.test."]
    assert dig.CNAME(ctx, "alias.test", nameserver=server) == "www.test."
    assert dig.TXT(ctx, "more.test", nameserver=server) == [f'"{ZONE["more.test", "TXT"][0]}"']
    assert dig.ptr is dig.PTR


@pytest.mark.parametrize("host", ["-f/etc/passwd", "+trace", ""])
def test_what_dig_would_take_for_an_option_is_refused(host: str, make_context: Make) -> None:
    with pytest.raises(BadArgument, match="it is not a name"):
        dig.A(make_context(), host)
    with pytest.raises(BadArgument, match="it is not a name"):
        dig.PTR(make_context(), host)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("10.0.0.7", True),
        ("10.0.0.0/8", True),
        ("10.0.0.0/0", False),
        ("10.0.0.0/33", False),
        ("::1", True),
        ("2001:db8::/7", False),
        ("2001:db8::/32", True),
        ("10.0.0.0/x", False),
        ("name", False),
        (7, False),
    ],
)
def test_addresses(text: object, known: bool, make_context: Make) -> None:
    assert dig.check_ip(make_context(), text) is known
    assert dnsutil.check_ip(make_context(), text) is known


def test_hosts_files_are_read_and_changed(make_context: Make, tmp_path: Path) -> None:
    ctx, file = make_context(), tmp_path / "hosts"
    file.write_text("# ours\n127.0.0.1 localhost\n\n10.0.0.7 db db2\n10.0.0.7 more")
    path = str(file)
    assert dnsutil.parse_hosts(ctx, path) == {"127.0.0.1": ["localhost"], "10.0.0.7": ["db", "db2", "more"]}
    assert "No additional" in dnsutil.hosts_append(ctx, path, "10.0.0.7", "db,more")
    assert dnsutil.hosts_append(ctx, path, "10.0.0.8", "a,b").endswith("\n10.0.0.8 a b")
    dnsutil.hosts_remove(ctx, path, "more,db2")
    assert file.read_text() == "# ours\n127.0.0.1 localhost\n\n10.0.0.7 db\n10.0.0.8 a b\n"
    assert dnsutil.parse_hosts(ctx, str(tmp_path / "none")) == "Error: hosts data was not found"


ZONE_FILE = """\
$ORIGIN example.org.
$TTL 1D
@ IN SOA ns1.example.org. root.example.org. ( 2026111601 ; serial
    3H 15M 4W 1D )
    IN NS ns1.example.org.
    IN MX 10 mail.example.org.
ns1 3600 IN A 192.0.2.1
www IN CNAME ns1
"""


def test_zone_files_are_data(make_context: Make) -> None:
    assert dnsutil.parse_zone(make_context(), zone=ZONE_FILE) == {
        "ORIGIN": "example.org.",
        "TTL": "1D",
        "NETWORK": "IN",
        "SOURCE": "ns1.example.org.",
        "CONTACT": "root@example.org.",
        "SERIAL": "2026111601",
        "REFRESH": 10800,
        "RETRY": 900,
        "EXPIRE": 604800,
        "MINTTL": 86400,
        "NS": ["ns1.example.org."],
        "MX": [{"priority": "10", "host": "mail.example.org."}],
        "A": {"ns1.example.org.": {"TARGET": "192.0.2.1", "TTL": "3600"}},
        "CNAME": {"www.example.org.": "ns1"},
    }
    assert dnsutil.parse_zone(make_context()) == "Error: Zone data was not found"
