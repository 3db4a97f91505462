"""Fetch files from web servers, with the login in their URL, unless they are unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.language.mask import mask

if TYPE_CHECKING:
    from ssl import SSLContext

GONE = (404, 410)
UNCHANGED = 304


class WebError(Exception):
    """The server cannot be reached, or has refused the file; the text contains no password."""


class Reply(Struct, frozen=True):
    """``data`` is None if there is no such file; ``unchanged`` if it still has the given ETag."""

    data: bytes | None = None
    etag: str = ""
    unchanged: bool = False


def split_login(url: str) -> tuple[str, str]:
    """The URL without the login, and the header with it (empty if there is none)."""
    from base64 import b64encode
    from urllib.parse import unquote

    scheme, separator, rest = url.partition("://")
    if not separator or scheme.lower() not in ("http", "https"):
        return url, ""
    end = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    login, found, host = rest[:end].rpartition("@")
    if not found:
        return url, ""
    user, _, password = login.partition(":")
    secret = f"{unquote(user)}:{unquote(password)}".encode()
    return f"{scheme}://{host}{rest[end:]}", f"Basic {b64encode(secret).decode()}"


def fetch(url: str, *, limit: float = 60, verify: bool = True, etag: str = "") -> Reply:
    """The reply of the server. The login is sent only to the host in the URL."""
    from http.client import HTTPException, InvalidURL
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    plain, login = split_login(url)
    try:
        request = Request(plain)
        if login:
            request.add_unredirected_header("Authorization", login)
        if etag:
            request.add_header("If-None-Match", etag)
        with urlopen(request, timeout=limit, context=_trust(plain, verify)) as reply:
            return Reply(bytes(reply.read()), reply.headers.get("ETag") or "")
    except HTTPError as problem:
        with problem:
            if problem.code == UNCHANGED:
                return Reply(unchanged=True, etag=etag)
            if problem.code in GONE:
                return Reply()
            raise WebError(
                f"{mask(url)}: the server responded with {problem.code} {problem.reason}"
            ) from None
    except InvalidURL:  # its text contains the login
        raise WebError(f"{mask(url)} is not a valid URL") from None
    except (OSError, ValueError, HTTPException) as problem:  # URLError is an OSError
        raise WebError(f"{mask(url)}: {mask(str(getattr(problem, 'reason', problem)))}") from None


def _trust(url: str, verify: bool) -> SSLContext | None:
    if verify or not url.lower().startswith("https:"):
        return None
    import ssl

    return ssl._create_unverified_context()
