"""One connection to a controller: requests and answers as bytes."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.fleet.client.address import Address
from saltern.fleet.client.http import HttpAnswer, HttpLink, HttpProblem, NoHttp
from saltern.fleet.client.problems import unreachable

if TYPE_CHECKING:
    import ssl

CONNECT_TIME = 10.0
ANSWER_TIME = 120.0


class Trust(Struct, frozen=True, kw_only=True):
    """Which certificates are trusted: those of a CA (PEM), or else those that this machine trusts."""

    ca: str = ""

    def context(self) -> ssl.SSLContext:
        import ssl

        context = ssl.create_default_context(cadata=self.ca or None)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        return context


class Reply(Struct, frozen=True, kw_only=True):
    """A complete answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Keeps a connection open between requests; used by one thread at a time."""

    def __init__(self, address: Address, trust: Trust = Trust()) -> None:  # noqa: B008
        self.address = address
        self.was_open = False  # a connection was made: a request may have arrived
        self._trust = trust
        self._link: HttpLink | None = None

    def exchange(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        """Send a request and read its answer. A kept connection that the server has closed is replaced:
        every request may be sent twice, because writes carry a client token.
        """
        kept = self._link is not None
        try:
            return self._exchange(method, path, headers, body)
        except (OSError, HttpProblem) as problem:
            self.close()
            if not (kept and is_closed(problem)):
                raise unreachable(self.address, problem) from None
            return self.exchange(method, path, headers, body)
        except BaseException:
            self.close()  # the rest of an answer would be taken for the next one
            raise

    def _exchange(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        answer = self._open_link().ask(method, self.address.prefix + path, headers, body)
        data = answer.read()
        if answer.is_last:
            self.close()
        return Reply(status=answer.status, headers=answer.headers, body=data)

    def open_stream(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, silence: float
    ) -> HttpAnswer:
        """An answer that does not end; ``silence`` is how many seconds may pass without a byte of it."""
        try:
            link = self._open_link()
            answer = link.ask(method, self.address.prefix + path, headers, body)
            link.sock.settimeout(silence)
        except (OSError, HttpProblem) as problem:
            self.close()
            raise unreachable(self.address, problem) from None
        return answer

    def _open_link(self) -> HttpLink:
        if self._link is None:
            sock = self._socket()
            self.was_open = True
            sock.settimeout(ANSWER_TIME)
            self._link = HttpLink(sock, self.address.authority)
        return self._link

    def _socket(self) -> socket.socket:
        where = self.address
        if where.socket:
            return _unix_socket(os.path.expanduser(where.socket))
        sock = socket.create_connection((where.host, where.port), CONNECT_TIME)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self._trust.context().wrap_socket(sock, server_hostname=where.host) if where.tls else sock
        except BaseException:
            sock.close()
            raise

    def close(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None


def is_closed(problem: Exception) -> bool:
    """True for the errors of a request on a connection that the server has closed meanwhile: TLS has its own.
    After a timeout, or half an answer, the request is not repeated.
    """
    return isinstance(problem, OSError | NoHttp) and not isinstance(problem, TimeoutError)


def _unix_socket(path: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(CONNECT_TIME)
    try:
        sock.connect(path)
    except BaseException:
        sock.close()
        raise
    return sock
