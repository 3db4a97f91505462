"""The client: addresses, trust, tokens on disk, and messages when no controller is there."""

from __future__ import annotations

import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.fleet.api.kit import Running, add_system, running_api
from tests.fleet.harness import free_port

from saltern.fleet.api.table import ROUTES
from saltern.fleet.broker.tls import CertificateFiles, prepare_certificates
from saltern.fleet.broker.tls import ca_fingerprint as broker_fingerprint
from saltern.fleet.client import follow
from saltern.fleet.client.address import Address, parse_address
from saltern.fleet.client.client import Client
from saltern.fleet.client.http import HttpProblem, NoHttp
from saltern.fleet.client.problems import ControllerError, Unreachable
from saltern.fleet.client.session import Session
from saltern.fleet.client.transport import is_closed
from saltern.fleet.client.trust import ca_fingerprint, fetch_ca
from saltern.language.diagnostics import OperationError


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("/run/x.sock", Address(socket="/run/x.sock")),
        ("unix:///run/x.sock", Address(socket="/run/x.sock")),
        ("controller.sock", Address(socket="controller.sock")),
        ("fleet/controller.sock", Address(socket="fleet/controller.sock")),
        ("d1.fleet/controller.sock", Address(socket="d1.fleet/controller.sock")),
        ("../fleet/api", Address(socket="../fleet/api")),
        ("fleet/run/api", Address(socket="fleet/run/api")),
        ("~/fleet/api", Address(socket="~/fleet/api")),
        ("c.example.org/fleet", Address(host="c.example.org", port=4510, tls=True, prefix="/fleet")),
        ("c:99/fleet", Address(host="c", port=99, tls=True, prefix="/fleet")),
        ("localhost/fleet", Address(host="localhost", port=4510, tls=True, prefix="/fleet")),
        ("https://c.example.org", Address(host="c.example.org", port=443, tls=True)),
        ("https://c:4510/fleet/", Address(host="c", port=4510, tls=True, prefix="/fleet")),
        ("c.example.org", Address(host="c.example.org", port=4510, tls=True)),
        ("[::1]:99", Address(host="::1", port=99, tls=True)),
        ("http://127.0.0.1:80", Address(host="127.0.0.1", port=80)),
    ],
)
def test_addresses(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://",
        "ftp://x",
        "https://x:99999",
        "https://a@b",
        "https://x?y",
        "https://[",
        "a..b",
        "a" * 70,
    ],
)
def test_an_address_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(OperationError, match="controller-address"):
        parse_address(text)


def test_a_token_never_travels_in_the_clear() -> None:
    with pytest.raises(OperationError, match="in the clear"):
        parse_address("http://c.example.org:4510")


@contextmanager
def answering(data: bytes) -> Iterator[int]:
    """A server that answers the same to everything."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(data)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield int(server.getsockname()[1])
        thread.join(10)


def message(address: str) -> str:
    with pytest.raises(ControllerError) as caught, Client(address) as client:
        client.me()
    return str(caught.value)


def test_a_controller_that_is_not_there_is_named_with_what_to_do(tmp_path: Path) -> None:
    missing = message(str(tmp_path / "no.sock"))
    assert "there is no such socket" in missing and "saltern controller" in missing and "no.sock" in missing
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "left.sock"))
    assert "nothing listens there" in message(str(tmp_path / "left.sock"))
    assert "nothing listens there" in message(f"http://127.0.0.1:{free_port()}")
    assert "'no.such.host.invalid' is not known" in message("https://no.such.host.invalid")


def test_what_is_not_a_controller_is_reported() -> None:
    page = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 13\r\n\r\n<h1>nginx</h1"
    with answering(page) as port:
        assert "is not a saltern controller (status 502)" in message(f"http://127.0.0.1:{port}")
    with answering(b"SSH-2.0-OpenSSH\r\n") as port:
        assert "cannot be reached" in message(f"http://127.0.0.1:{port}")
    with answering(b"") as port:
        assert "cannot be reached" in message(f"http://127.0.0.1:{port}")


def test_a_connection_that_the_server_closed_is_made_again(tmp_path: Path) -> None:
    with running_api(tmp_path) as api:
        client = api.client()
        first = client.me()
    with running_api(tmp_path) as api:
        assert client.me() == first
        client.close()


@pytest.fixture
def tls(tmp_path: Path) -> Iterator[Running]:
    """An API with TLS on this machine, with the broker's CA, below a path."""
    folder = tmp_path / "tls"
    files = prepare_certificates(str(folder), ("127.0.0.1", "localhost"), fleet="f", now=time.time())
    with running_api(
        tmp_path,
        prefix="/fleet",
        ca=Path(files.ca).read_text(),
        host="127.0.0.1",
        certificate=files.server,
        key=files.server_key,
    ) as api:
        yield api


def test_a_certificate_that_was_replaced_is_shown_to_the_next_client(tls: Running, tmp_path: Path) -> None:
    files = CertificateFiles(str(tmp_path / "tls"))

    def shown() -> str:
        tls.run(tls.server.follow_certificate())
        return ssl.get_server_certificate(("127.0.0.1", tls.server.port))

    first = shown()
    assert shown() == first
    with Client(f"https://127.0.0.1:{tls.server.port}/fleet", ca=Path(files.ca).read_text()) as client:
        assert client.health()
        Path(files.server).unlink()
        prepare_certificates(files.folder, ("127.0.0.1", "localhost"), fleet="f", now=time.time())
        second = shown()
        assert second != first and second in Path(files.server).read_text()
        assert client.health()  # over the connection that it has
    Path(files.server_key).write_bytes(Path(files.ca_key).read_bytes())
    with pytest.raises(OperationError, match="must belong together"):
        shown()
    assert ssl.get_server_certificate(("127.0.0.1", tls.server.port)) == second


def test_tls_with_the_fleets_own_ca(tls: Running, tmp_path: Path) -> None:
    add_system(tls.database, "web1")
    tls.client().operators.add("joe", roles=["viewer"], password="correct horse battery")
    address = f"https://127.0.0.1:{tls.server.port}/fleet"
    untrusted = message(address)
    assert "its certificate is not trusted here" in untrusted and "saltern login" in untrusted
    ca = Path(tmp_path / "tls" / "ca.pem").read_text()
    assert fetch_ca(address, f"SHA256:{ca_fingerprint(ca).upper()}") == ca
    with pytest.raises(OperationError, match="has the fingerprint"):
        fetch_ca(address, "0" * 64)
    with Client(address, ca=ca) as client:
        with pytest.raises(ControllerError, match="does not know who asks"):
            client.me()
        client.own.login("joe", "correct horse battery")
        assert client.me()["name"] == "joe"
        assert [one["id"] for one in client.systems.list()] == ["web1"]
        assert client.openapi()["servers"] == [{"url": "/fleet"}]
    with Client(f"https://127.0.0.1:{tls.server.port}", ca=ca) as outside:  # the proxy has removed the path
        assert outside.health()["status"] == "ok"
    assert broker_fingerprint.__name__ == ca_fingerprint.__name__


def test_tls_is_needed_beyond_this_machine(tmp_path: Path) -> None:
    with (
        pytest.raises(OperationError, match="tokens would travel in the clear"),
        running_api(tmp_path, host="0.0.0.0"),
    ):
        pass


def test_a_socket_in_use_is_not_taken(tmp_path: Path) -> None:
    with running_api(tmp_path) as api, pytest.raises(OperationError, match="cannot listen"):
        other = tmp_path / "other"
        other.mkdir()
        with running_api(other, socket=api.socket):
            pass


def test_there_is_a_method_for_each_route() -> None:
    """Every path of the table stands in the source of the client."""
    import re

    import saltern.fleet.client as package

    folder = Path(package.__file__).parent
    source = "\n".join(file.read_text() for file in folder.glob("*.py"))
    source = re.sub(r"\{part\(\w+\)\}", "{}", source)
    for route in ROUTES:
        *_, last = route.path.split("/")
        known = re.sub(r"\{\w+\}", "{}", route.path)
        parts = known.rpartition("/")
        assert known in source or (parts[0] in source and (last in source)), route.path
    assert issubclass(Unreachable, ControllerError)


@contextmanager
def connections(*some: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that treats the first connection so, the next so; its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for one in some:
                connection, _ = server.accept()
                with connection:
                    one(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join(10)


def answer_once(text: bytes) -> Callable[[socket.socket], None]:
    """Answer one request; the connection could be kept, and ends."""

    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(text), text))

    return serve


class Interrupted(BaseException):
    """As Ctrl-C."""


@pytest.fixture
def interrupts() -> Iterator[None]:
    def stop(_number: int, _frame: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGUSR1, stop)
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.usefixtures("interrupts")
def test_what_is_left_of_an_interrupted_answer_is_not_the_next_one() -> None:
    interrupted = threading.Event()

    def half(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        interrupted.wait(10)
        with suppress(OSError):
            connection.sendall(b'"no"')

    with connections(half, answer_once(b'"yes"')) as where:
        session = Session(parse_address(where))
        with pytest.raises(Interrupted):
            session.get("/v1/x")
        interrupted.set()
        assert session.get("/v1/y") == "yes"
        session.close()


def test_a_quiet_stream_that_breaks_is_looked_for_as_long_as_any(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    passing = SimpleNamespace(monotonic=lambda: clock[0], sleep=lambda _seconds: None)
    monkeypatch.setattr(follow, "time", passing)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    def quiet(connection: socket.socket) -> None:
        connection.recv(65536)
        clock[0] += 10 * follow.PATIENCE
        connection.sendall(head + b": keep-alive\n\n")

    def news(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(head + b'data: {"kind": "ended"}\n\n')

    def reset(connection: socket.socket) -> None:
        connection.recv(65536)

    with connections(quiet, reset, news) as where:
        follower = follow.Follower(
            Session(parse_address(where)), "/v1/x", {}, patience=follow.PATIENCE, on_break=follow.ignore
        )
        assert [*follower.notices()] == [{"kind": "ended"}]


def test_a_kept_connection_that_has_ended_is_made_anew() -> None:
    with connections(answer_once(b"1"), answer_once(b"2")) as where:
        session = Session(parse_address(where))
        assert [session.get("/v1/x"), session.get("/v1/x")] == [1, 2]
        session.close()


@pytest.mark.parametrize(
    ("problem", "again"),
    [
        (ssl.SSLEOFError("EOF occurred in violation of protocol"), True),
        (ssl.SSLZeroReturnError("TLS/SSL connection has been closed"), True),
        (ConnectionResetError(), True),
        (NoHttp("the connection ended"), True),
        (TimeoutError(), False),
        (HttpProblem("the connection ended in the middle of the answer"), False),
    ],
)
def test_what_is_asked_again_on_a_new_connection(problem: Exception, again: bool) -> None:
    assert is_closed(problem) is again
