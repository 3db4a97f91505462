"""Serves the application: on a UNIX socket for this machine, and with TLS for others."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import stat
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from uvicorn import Config, Server
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from saltern.fleet.access.ports import Peer
from saltern.fleet.api.wrapper import Wrapper
from saltern.language.diagnostics import Diagnostic, OperationError

GRACE = 5  # seconds that open requests have when the controller stops
FIRST_REQUEST = 20.0  # seconds that a connection may stay without a request
MOST_CONNECTIONS = 5000
MOST_UNREAD = 64 * 1024  # bytes of a head, or before a part of a body: the parser keeps what is not whole
MOST_WAITING = 100  # requests of one connection that wait for the answer to an earlier one
_CREDENTIALS = struct.Struct("3i")


class Listen(Struct, frozen=True, kw_only=True):
    """Where to listen: a UNIX socket, an address with TLS, or both."""

    socket: str = ""
    socket_mode: int = 0o666  # authorisation depends on the peer, not on the mode of the file
    host: str = ""
    port: int = 0
    certificate: str = ""
    key: str = ""
    trusted_proxies: tuple[str, ...] = ()


class PeerProtocol(HttpToolsProtocol):
    """HTTP on one connection, with limits for a head and for requests that wait; it knows the process at the
    other end of a UNIX socket.
    """

    _waiting: asyncio.TimerHandle | None = None
    _unread = 0  # bytes since the last whole head or part of a body
    _open: Sequence[RequestResponseCycle] = ()  # requests that are not answered; uvicorn knows only the last

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        peer = peer_of(transport.get_extra_info("socket"))
        self.app_state = {**self.app_state, "peer": peer, "abort": transport.abort}
        self._waiting = self.loop.call_later(FIRST_REQUEST, transport.close)

    def data_received(self, data: bytes) -> None:
        self._unread += len(data)
        super().data_received(data)
        if self.cycle is not None and self._waiting is not None:
            self._waiting.cancel()
        if self._unread > MOST_UNREAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= MOST_WAITING:  # each takes a hundred times the memory of its bytes
            raise ValueError("too many requests at once")  # the parser ends, and 400 is answered
        self._unread = 0
        super().on_headers_complete()
        self._open = [*(one for one in self._open if not one.response_complete), self.cycle]

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        super().connection_lost(exc)
        for one in self._open:
            one.disconnected = True
            one.message_event.set()


def peer_of(connection: Any) -> Peer | None:
    """The process at the other end of a UNIX socket; None for any other connection."""
    if connection is None or connection.family != socket.AF_UNIX:
        return None
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _pid, uid, _gid = _CREDENTIALS.unpack(data)
    return Peer(uid=uid)


class _Listener(Server):
    """A server that leaves signals to the controller."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class ApiServer:
    """The running API. ``start`` returns when it accepts connections; ``stop`` ends streams and requests."""

    def __init__(self, app: Wrapper, listen: Listen) -> None:
        self.app = app
        self.listen = listen
        self.port = 0
        self._servers: list[tuple[_Listener, asyncio.Task[None]]] = []
        self._tls: Config | None = None
        self._read_at = 0

    async def start(self) -> None:
        """Listen at all configured places; if one fails, at none."""
        try:
            if self.listen.socket:
                await self._add(self._config(), unix_socket(self.listen))
            if self.listen.host:
                self._tls, made = self._tls_config(), tcp_socket(self.listen)
                self.port = int(made.getsockname()[1])
                await self._add(self._tls, made)
        except BaseException:
            await self.stop()
            raise

    async def follow_certificate(self) -> None:
        """Use the certificate that is in its file now, for new connections."""
        context = self._tls.ssl if self._tls is not None and self._tls.loaded else None
        if context is None or (changed := self._modification_time()) == self._read_at:
            return
        try:
            context.load_cert_chain(self.listen.certificate, self.listen.key or None)
        except OSError as problem:  # the certificate has been written, and its key will follow in a moment
            raise _cannot_use(self.listen.certificate, problem) from None
        self._read_at = changed

    def _modification_time(self) -> int:
        """The modification time of the certificate or its key, whichever is newer."""
        paths = [path for path in (self.listen.certificate, self.listen.key) if path]
        return max(os.stat(path).st_mtime_ns for path in paths)

    async def stop(self) -> None:
        self.app.desk.closing.set()
        for server, _task in self._servers:
            server.should_exit = True
        await asyncio.gather(*(task for _, task in self._servers))
        if self._servers and self.listen.socket:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.listen.socket)

    async def _add(self, config: Config, listening: socket.socket) -> None:
        server = _Listener(config)
        task = asyncio.create_task(server.serve(sockets=[listening]))
        self._servers.append((server, task))
        while not server.started:
            await asyncio.sleep(0.01)
            if task.done():
                task.result()

    def _config(self, **more: Any) -> Config:
        return Config(
            self.app,
            http=PeerProtocol,
            ws="none",
            loop="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(self.listen.trusted_proxies),
            forwarded_allow_ips=[*self.listen.trusted_proxies],
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=GRACE,
            timeout_keep_alive=60,
            **more,
        )

    def _tls_config(self) -> Config:
        if not self.listen.certificate:
            check_loopback(self.listen.host)
            return self._config()
        self._read_at = self._modification_time()
        return self._config(
            ssl_certfile=self.listen.certificate,
            ssl_keyfile=self.listen.key or None,
            ssl_context_factory=tls_context,
        )


def tls_context(_config: Config, make: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    context = make()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def check_loopback(host: str) -> None:
    """Refuse to serve without TLS beyond loopback: tokens would be sent in the clear."""
    if host not in ("127.0.0.1", "::1", "localhost"):
        what = f"the API on {host!r} has no certificate, and tokens would travel in the clear"
        fix = "give it a certificate, or let it listen on 127.0.0.1 behind a proxy with TLS"
        raise OperationError(Diagnostic(code="api-no-certificate", what=what, fix=fix))


def unix_socket(listen: Listen) -> socket.socket:
    """A socket at a path; a stale one is replaced, one that is in use is not."""
    path = listen.socket
    _remove_left_socket(path)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(path)
    except OSError as problem:
        made.close()
        raise _cannot_listen(path, problem) from None
    os.chmod(path, listen.socket_mode)
    return made


def _remove_left_socket(path: str) -> None:
    try:
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            return
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
        except OSError:
            pass


def tcp_socket(listen: Listen) -> socket.socket:
    kind = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    made = socket.socket(kind, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((listen.host, listen.port))
    except OSError as problem:
        made.close()
        raise _cannot_listen(f"{listen.host}:{listen.port}", problem) from None
    return made


def _cannot_use(path: str, problem: OSError) -> OperationError:
    what = f"the certificate of the API in {path} cannot be used: {problem.strerror or problem}"
    fix = "certificate and key must belong together; until then the old one is used"
    return OperationError(Diagnostic(code="api-certificate", what=what, fix=fix))


def _cannot_listen(where: str, problem: OSError) -> OperationError:
    what = f"the API cannot listen on {where}: {problem.strerror or problem}"
    fix = "stop what listens there, or choose another address or path in the configuration"
    return OperationError(Diagnostic(code="api-cannot-listen", what=what, fix=fix))
