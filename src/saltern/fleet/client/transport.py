"""One connection to a controller: requests and answers as bytes."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
from collections.abc import Mapping

from msgspec import Struct

from saltern.fleet.client.address import Address
from saltern.fleet.client.problems import unreachable

CONNECT_TIME = 10.0
ANSWER_TIME = 120.0
BROKEN = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError, http.client.BadStatusLine)


class Trust(Struct, frozen=True, kw_only=True):
    """Which certificates are trusted: those of a CA (PEM), or else those that this machine trusts."""

    ca: str = ""

    def context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cadata=self.ca or None)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        return context


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a UNIX socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = os.path.expanduser(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        try:
            self.sock.connect(self._path)
        except OSError:
            self.sock.close()
            raise


class Reply(Struct, frozen=True, kw_only=True):
    """An answer, whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Keeps a connection open between requests; used by one thread at a time."""

    def __init__(self, address: Address, trust: Trust = Trust()) -> None:  # noqa: B008
        self.address = address
        self._trust = trust
        self._connection: http.client.HTTPConnection | None = None

    def exchange(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        """Send a request and read its answer. A kept connection that the server has closed is made anew:
        every request may be sent twice, because writes carry a client token.
        """
        kept = self._connection is not None
        try:
            return self._exchange(method, path, headers, body)
        except BROKEN as problem:
            self.close()
            if not kept:
                raise unreachable(self.address, problem) from None
            return self.exchange(method, path, headers, body)
        except (OSError, http.client.HTTPException) as problem:
            self.close()
            raise unreachable(self.address, problem) from None

    def _exchange(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        answer = self._request(method, path, headers, body)
        data = answer.read()
        if answer.will_close:
            self.close()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Reply(status=answer.status, headers=names, body=data)

    def open_stream(self, path: str, headers: Mapping[str, str], silence: float) -> http.client.HTTPResponse:
        """An answer that does not end; ``silence`` is how many seconds may pass without a byte of it."""
        try:
            answer = self._request("GET", path, headers, None)
            if self._connection is not None and self._connection.sock is not None:
                self._connection.sock.settimeout(silence)
        except (OSError, http.client.HTTPException) as problem:
            self.close()
            raise unreachable(self.address, problem) from None
        return answer

    def _request(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> http.client.HTTPResponse:
        if self._connection is None:
            connection = self._connect()
            connection.connect()
            if connection.sock is not None:
                connection.sock.settimeout(ANSWER_TIME)
            self._connection = connection
        self._connection.request(method, self.address.prefix + path, body, dict(headers))
        return self._connection.getresponse()

    def _connect(self) -> http.client.HTTPConnection:
        where = self.address
        if where.socket:
            return _UnixConnection(where.socket, CONNECT_TIME)
        if where.tls:
            context = self._trust.context()
            return http.client.HTTPSConnection(where.host, where.port, timeout=CONNECT_TIME, context=context)
        return http.client.HTTPConnection(where.host, where.port, timeout=CONNECT_TIME)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
