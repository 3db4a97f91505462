"""HTTP/1.1 over a socket, as much as a client of the API needs: requests, whole answers, and endless ones.

The module of the standard library imports a mail parser and TLS, even for a UNIX socket: two thirds of the
start-up cost of a command.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping

RECEIVED = 64 * 1024  # bytes read from the socket at once
MOST_HEAD = 64 * 1024  # bytes of a status line and its headers, or of a line between chunks
MOST_DIGITS = 15  # of a length
HEXADECIMAL = b"0123456789abcdefABCDEF"
WITHOUT_BODY = (204, 304)


class HttpProblem(Exception):
    """The answer is cut short, or is not HTTP."""


class NoHttp(HttpProblem):
    """The connection ended before an answer began, or it began with something else."""


class HttpAnswer:
    """An answer whose head has arrived. Names of headers are in lower case."""

    def __init__(self, link: HttpLink, version: str, status: int, headers: Mapping[str, str]) -> None:
        self.status = status
        self.headers = headers
        self._link = link
        self._chunked = "chunked" in headers.get("transfer-encoding", "").lower()
        self._size = _size(headers) if not self._chunked else None
        said = headers.get("connection", "").lower()
        endless = not self._chunked and self._size is None and status not in WITHOUT_BODY
        self.is_last = "close" in said or (version == "HTTP/1.0" and "keep-alive" not in said) or endless

    def read(self) -> bytes:
        """The whole body."""
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """The body, as it arrives."""
        if self.status in WITHOUT_BODY:
            return iter(())
        if self._chunked:
            return self._chunks()
        return self._link.some(self._size) if self._size is not None else self._link.rest()

    def _chunks(self) -> Iterator[bytes]:
        while size := _hexadecimal(self._link.line().partition(b";")[0]):
            yield from self._link.some(size)
            self._link.line()
        while self._link.line():  # headers after the body
            pass


class HttpLink:
    """A connection; one request is answered before the next is sent."""

    def __init__(self, sock: socket.socket, host: str) -> None:
        self.sock = sock
        self._host = host
        self._data = b""

    def ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> HttpAnswer:
        """Send a request, and read the head of its answer."""
        given = {"Host": self._host, "Accept-Encoding": "identity", **headers}
        if body is not None or method != "GET":
            given["Content-Length"] = str(len(body or b""))
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("a line break cannot be sent in a header")
        self.sock.sendall("\r\n".join([*lines, "", ""]).encode() + (body or b""))
        return self._answer()

    def _answer(self) -> HttpAnswer:
        while True:
            version, status = _status(self._head())
            headers: dict[str, str] = {}
            room = MOST_HEAD
            while line := self.line():
                room -= len(line)
                if room < 0:
                    raise HttpProblem("the headers of the answer are too long")
                name, _, value = line.decode("latin-1").partition(":")
                headers[name.strip().lower()] = value.strip()
            if status >= 200:  # an interim response precedes the answer
                return HttpAnswer(self, version, status, headers)

    def _head(self) -> bytes:
        """The status line. Raises ``NoHttp`` if the connection has ended before it."""
        try:
            return self.line()
        except HttpProblem as problem:
            if self._data:
                raise
            raise NoHttp(str(problem)) from None

    def line(self) -> bytes:
        """The next line, without its end."""
        while b"\n" not in self._data:
            if len(self._data) > MOST_HEAD:
                raise HttpProblem("a line of the answer is too long")
            self._receive()
        line, _, self._data = self._data.partition(b"\n")
        return line.rstrip(b"\r")

    def some(self, size: int) -> Iterator[bytes]:
        """The next bytes, as they arrive."""
        while size:
            if not self._data:
                self._receive()
            piece, self._data = self._data[:size], self._data[size:]
            size -= len(piece)
            yield piece

    def rest(self) -> Iterator[bytes]:
        """Everything until the connection ends."""
        piece, self._data = self._data or self.sock.recv(RECEIVED), b""
        while piece:
            yield piece
            piece = self.sock.recv(RECEIVED)

    def _receive(self) -> None:
        piece = self.sock.recv(RECEIVED)
        if not piece:
            raise HttpProblem("the connection ended in the middle of the answer")
        self._data += piece

    def close(self) -> None:
        self.sock.close()


def _status(line: bytes) -> tuple[str, int]:
    version, _, rest = line.decode("latin-1").partition(" ")
    code = rest[:3]
    if not version.startswith("HTTP/1.") or not (code.isascii() and code.isdigit()):
        raise NoHttp(f"the answer is not HTTP: {line[:80]!r}")
    return version, int(code)


def _size(headers: Mapping[str, str]) -> int | None:
    text = headers.get("content-length")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > MOST_DIGITS:
        raise HttpProblem(f"the length of the answer is not a number: {text[:20]!r}")
    return int(text)


def _hexadecimal(text: bytes) -> int:
    digits = text.strip()
    if not digits or len(digits) > MOST_DIGITS or digits.strip(HEXADECIMAL):
        raise HttpProblem(f"the size of a chunk of the answer is not a number: {text[:20]!r}")
    return int(digits, 16)
