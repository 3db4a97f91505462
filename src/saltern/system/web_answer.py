"""The body of one HTTP response: limited in size and time, and only from the intended server.

A redirect is followed, but not from https to an unencrypted connection, nor to an address that is not a web
address; a password is sent only to the original server.
"""

from __future__ import annotations

import ssl
from http.client import HTTPException, HTTPMessage
from typing import IO
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

LIMIT = 30.0  # seconds
MOST = 16 << 20  # bytes


class NoAnswer(Exception):
    """There is no usable response; the text says why, and contains nothing of the request."""


class _Careful(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if new.scheme not in ("http", "https") or (old.scheme, new.scheme) == ("https", "http"):
            raise NoAnswer(f"it redirects to an address with {new.scheme}://, which is not followed")
        made = super().redirect_request(req, fp, code, msg, headers, newurl)
        if made is not None and old.netloc != new.netloc:
            made.remove_header("Authorization")
        return made


def answer(
    request: Request, context: ssl.SSLContext | None = None, *, limit: float = LIMIT, most: int = MOST
) -> bytes:
    """The body. Raises ``HTTPError`` if the server refuses, and ``NoAnswer`` for any other failure."""
    try:
        with build_opener(_Careful, HTTPSHandler(context=context)).open(request, timeout=limit) as found:
            body: bytes = found.read(most + 1)
    except HTTPError:
        raise
    except HTTPException:
        raise NoAnswer("its response is not HTTP, or is incomplete") from None
    except OSError as problem:  # also what urllib calls URLError
        raise NoAnswer(f"cannot be reached: {getattr(problem, 'reason', problem)}") from None
    if len(body) > most:
        raise NoAnswer(f"its response is larger than {most >> 20} MiB")
    return body
