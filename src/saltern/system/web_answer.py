"""The body of one answer over HTTP: of a bounded size, within a time limit, and from no one else.

A server may lead elsewhere, but not from https to a connection that others can read, nor to an address that
is not of the web; a password of the request is for the server that it was meant for.
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
    """There is no usable answer; the text says why, and contains nothing of the request."""


class _Careful(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if new.scheme not in ("http", "https") or (old.scheme, new.scheme) == ("https", "http"):
            raise NoAnswer(f"it leads to another address, with {new.scheme}://, which is not followed")
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
        raise NoAnswer("its answer is not HTTP, or was cut off") from None
    except OSError as problem:  # also what urllib calls URLError
        raise NoAnswer(f"cannot be reached: {getattr(problem, 'reason', problem)}") from None
    if len(body) > most:
        raise NoAnswer(f"its answer is larger than {most >> 20} MiB")
    return body
