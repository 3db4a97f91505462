"""The Docker engine, through its HTTP API.

Nothing is passed on a command line: environment variables and passwords of registries are in
the body or a header of a request, where no process list shows them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers.waits import waited_for
from saltern.system.waits import reported_wait

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

Seen = dict[str, Any]  # what the engine returns for an object, unchanged

DEFAULT = "unix:///var/run/docker.sock"
TLS_PORT, PLAIN_PORT = 2376, 2375
CLIENT_TIMEOUT = 60.0
NOT_MODIFIED, NOT_FOUND, CONFLICT = 304, 404, 409


class EngineError(Refused):
    """The engine has refused a request; the text is its own message."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


class Response(Struct, frozen=True):
    status: int
    body: bytes


class Engine:
    """One Docker engine. ``address`` is ``unix:///…``, ``tcp://host:port`` or ``http(s)://host:port``."""

    __slots__ = ("address", "timeout", "version")

    def __init__(self, address: str = DEFAULT, *, version: str = "", timeout: float = CLIENT_TIMEOUT) -> None:
        self.address = address
        self.version = version
        self.timeout = timeout

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] | None = None,
        *,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Response:
        """Send a request. Bytes and open files are sent unchanged, everything else as JSON.

        Raises ``EngineError`` for every response that is not a success.
        """
        connection = self._open_connection(timeout or self.timeout)
        try:
            with reported_wait(waited_for(method, path, query, self.address)):
                return _check_response(self._send(connection, method, path, query, body, headers))
        except TimeoutError:
            waited = f"{timeout or self.timeout:g} seconds"
            raise Refused(f"the Docker engine at {self.address} did not respond within {waited}") from None
        except OSError as problem:
            raise Refused(f"the Docker engine at {self.address} closed the connection: {problem}") from None
        finally:
            connection.close()

    def get(self, path: str, query: Mapping[str, object] | None = None) -> Any:
        return self.data("GET", path, query)

    def data(self, method: str, path: str, query: Mapping[str, object] | None = None, **more: Any) -> Any:
        """The response as data; None if it is empty."""
        body = self.ask(method, path, query, **more).body
        return msgspec.json.decode(body) if body.strip() else None

    def find(self, path: str) -> Seen | None:
        """The data of an object, or None if it does not exist."""
        try:
            found: Seen = self.get(path)
        except EngineError as problem:
            if problem.status == NOT_FOUND:
                return None
            raise
        return found

    def talk(self, path: str, body: object, stdin: bytes | None) -> bytes:
        """Start a command whose output comes back on the same connection, and send its input."""
        import socket

        connection = self._open_connection(self.timeout)
        connection.timeout = None
        if connection.sock is not None:
            connection.sock.settimeout(None)
        headers = {"Connection": "Upgrade", "Upgrade": "tcp"} if stdin is not None else None
        try:
            with reported_wait(waited_for("POST", path, None, self.address)):
                response = self._send(connection, "POST", path, None, body, headers)
                if stdin is None or response.status >= 400:
                    return _check_response(response).body
                raw = connection.sock
                raw.sendall(stdin)
                raw.shutdown(socket.SHUT_WR)
                return response.fp.read()
        except OSError as problem:
            raise Refused(f"the Docker engine at {self.address} closed the connection: {problem}") from None
        finally:
            connection.close()

    def _send(
        self,
        connection: HTTPConnection,
        method: str,
        path: str,
        query: Mapping[str, object] | None,
        body: object,
        headers: Mapping[str, str] | None,
    ) -> HTTPResponse:
        from http.client import HTTPException

        data, kind = _payload(body)
        given = {**kind, **(headers or {})}
        try:
            connection.request(method, self._target(path, query), data, given)
            return connection.getresponse()
        except HTTPException as problem:
            raise Refused(f"{self.address} does not respond like a Docker engine: {problem!r}") from None

    def _target(self, path: str, query: Mapping[str, object] | None) -> str:
        from urllib.parse import quote, urlencode

        asked = {key: _word(value) for key, value in (query or {}).items() if value is not None}
        prefix = f"/v{self.version}" if self.version else ""
        return prefix + quote(path, safe="/:@") + (f"?{urlencode(asked)}" if asked else "")

    def _open_connection(self, timeout: float) -> HTTPConnection:
        try:
            return _connect(self.address, timeout)
        except OSError as problem:
            why = problem.strerror or problem
            raise Refused(
                f"no Docker engine responds at {self.address}: {why}; start it, or set docker.url (or "
                "DOCKER_HOST) to its address"
            ) from None


def engine(ctx: Context, timeout: float | None = None) -> Engine:
    """The engine of this machine's configuration.

    ``docker.url`` and ``docker.version`` of the pillar or the configuration override ``DOCKER_HOST``.
    """
    address = setting(ctx, "docker.url") or os.environ.get("DOCKER_HOST") or DEFAULT
    version = str(setting(ctx, "docker.version") or "")
    return Engine(
        str(address),
        version="" if version == "auto" else version.removeprefix("v"),
        timeout=timeout or CLIENT_TIMEOUT,
    )


def setting(ctx: Context, name: str) -> object:
    return ctx.opts.get(name) or ctx.pillar.get(name)


def _connect(address: str, timeout: float) -> HTTPConnection:
    from http.client import HTTPConnection

    scheme, _, place = address.partition("://")
    if scheme in ("unix", "http+unix"):
        import socket

        connection = HTTPConnection("localhost", timeout=timeout)
        connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.sock.settimeout(timeout)
        try:
            connection.sock.connect("/" + place.lstrip("/"))
        except OSError:
            connection.close()
            raise
        return connection
    if scheme not in ("tcp", "http", "https"):
        raise Refused(f"docker.url needs unix://, tcp:// or https://, not {address!r}")
    connection = _remote(scheme, place.rstrip("/"), timeout)
    connection.connect()
    return connection


def _remote(scheme: str, place: str, timeout: float) -> HTTPConnection:
    """A connection over TCP, with ``DOCKER_TLS_VERIFY`` and ``DOCKER_CERT_PATH`` as in the ``docker``
    program.
    """
    from http.client import HTTPConnection, HTTPSConnection

    host, _, port = place.rpartition(":") if ":" in place else (place, "", "")
    secure = scheme == "https" or bool(os.environ.get("DOCKER_TLS_VERIFY"))
    number = int(port) if port.isdigit() else TLS_PORT if secure else PLAIN_PORT
    if not secure:
        return HTTPConnection(host, number, timeout=timeout)
    import ssl

    certificates = os.environ.get("DOCKER_CERT_PATH") or os.path.expanduser("~/.docker")
    authority, own, key = (os.path.join(certificates, f"{name}.pem") for name in ("ca", "cert", "key"))
    trust = ssl.create_default_context(cafile=authority if os.path.exists(authority) else None)
    if os.path.exists(own):
        trust.load_cert_chain(own, key)
    return HTTPSConnection(host, number, timeout=timeout, context=trust)


def _payload(body: object) -> tuple[Any, dict[str, str]]:
    if body is None:
        return None, {}
    if isinstance(body, bytes) or hasattr(body, "read"):
        return body, {"Content-Type": "application/x-tar"}
    return msgspec.json.encode(body), {"Content-Type": "application/json"}


def _word(value: object) -> object:
    """A value of a query: flags as numbers, nested data as JSON."""
    if isinstance(value, bool):
        return int(value)
    return msgspec.json.encode(value).decode() if isinstance(value, dict | list) else value


def _check_response(response: HTTPResponse) -> Response:
    body = response.read()
    if response.status < 400:
        return Response(response.status, body)
    raise EngineError(_reason(body) or f"the Docker engine responded with {response.status}", response.status)


def _reason(body: bytes) -> str:
    try:
        reported = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return body.decode("utf-8", "replace").strip()
    return str(reported.get("message", "")).strip() if isinstance(reported, dict) else ""
