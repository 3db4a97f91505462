"""Where a controller is: a UNIX socket, or an address with TLS. Pure."""

from __future__ import annotations

from msgspec import Struct

from saltern.language.diagnostics import Diagnostic, OperationError

PORT = 4510
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Address(Struct, frozen=True, kw_only=True):
    """A place, and the path below which the API is served there."""

    socket: str = ""
    host: str = ""
    port: int = 0
    tls: bool = False
    prefix: str = ""

    @property
    def authority(self) -> str:
        """The host and the port of a request."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if host else "localhost"

    def __str__(self) -> str:
        if self.socket:
            return self.socket
        return f"{'https' if self.tls else 'http'}://{self.authority}{self.prefix}"


def parse_address(text: str) -> Address:
    """An address as people write it: a path, ``unix:///path``, ``https://host:port/path``, or ``host``."""
    if _is_path(text):
        return Address(socket=text)
    if text.startswith("unix:"):
        return Address(socket=text.removeprefix("unix:").removeprefix("//"))
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        host, port = parts.hostname or "", parts.port or _port(parts.scheme, text)
        host.encode("idna")  # such a text cannot be looked up as a name either
    except ValueError:
        raise _wrong(text) from None
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.query or parts.fragment:
        raise _wrong(text)
    if parts.scheme == "http" and host not in LOOPBACK:
        what = f"the address {text!r} has no TLS, and your token would travel in the clear"
        raise OperationError(
            Diagnostic(code="controller-address", what=what, fix=f"use https://{host}:{port}")
        )
    return Address(host=host, port=port, tls=parts.scheme == "https", prefix=parts.path.rstrip("/"))


def _is_path(text: str) -> bool:
    """True for a path, also a relative one: it ends like a socket, or its first part cannot be a host with a
    domain or a port.
    """
    if "://" in text or text.startswith("unix:"):
        return False
    if text.startswith(("/", "./", "../", "~")) or text.endswith(".sock"):
        return True
    first, slash, _ = text.partition("/")
    return bool(slash) and not any(mark in first for mark in ".:") and first not in LOOPBACK


def _port(scheme: str, text: str) -> int:
    """The port of an address: that of the scheme for a URL; for a bare name, the controller's default."""
    if "://" not in text:
        return PORT
    return 443 if scheme == "https" else 80


def _wrong(text: str) -> OperationError:
    what = f"the address of the controller {text[:200]!r} is not understood"
    fix = "use https://HOST:PORT, or the path of its socket"
    return OperationError(Diagnostic(code="controller-address", what=what, fix=fix))
