"""One request to a web address, signed according to Standard Webhooks: receivers check it with any of its
libraries.

The signature is of ``ID.TIMESTAMP.BODY`` with HMAC-SHA256. The id is the same at every attempt.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import secrets
import socket
import ssl
from urllib.parse import SplitResult

from saltern import __version__
from saltern.fleet.callbacks.reach import Destinations, check_url

PREFIX = "whsec_"
SECONDS = 10.0  # for each step of a request
ANSWER = 300  # bytes of an answer that are kept as its reason


class NotSent(Exception):
    """The notification did not arrive. ``for_good``: do not try again."""

    def __init__(self, why: str, *, for_good: bool = False) -> None:
        super().__init__(why)
        self.for_good = for_good


def new_key() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def key_bytes(key: str) -> bytes:
    """The bytes of a key; ``ValueError`` if it is none: 24 to 64 bytes in base64."""
    found = base64.b64decode(key.removeprefix(PREFIX), validate=True)
    if not 24 <= len(found) <= 64:
        raise ValueError(key)
    return found


def signature(key: str, id_: str, timestamp: int, body: bytes) -> str:
    """The value of ``webhook-signature``."""
    signed = b".".join((id_.encode(), str(timestamp).encode(), body))
    digest = hmac.new(key_bytes(key), signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def post(
    address: str, body: bytes, *, id_: str, key: str, now: float, reach: Destinations, ca: str = ""
) -> None:
    """Send the notification; raises ``NotSent`` with the reason if the receiver has not accepted it."""
    url = check_url(address, reach)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"saltern/{__version__}",
        "webhook-id": id_,
        "webhook-timestamp": str(int(now)),
        "webhook-signature": signature(key, id_, int(now), body),
    }
    try:
        connection = _connect(url, reach, ca)
        try:
            path = (url.path or "/") + (f"?{url.query}" if url.query else "")
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            said = answer.read(ANSWER).decode("utf-8", "replace")
        finally:
            connection.close()
    except (OSError, http.client.HTTPException, ValueError) as problem:
        raise NotSent(str(problem) or type(problem).__name__) from None
    if not 200 <= answer.status < 300:
        raise NotSent(f"it answered {answer.status} {answer.reason}: {said}", for_good=answer.status == 410)


def _connect(url: SplitResult, reach: Destinations, ca: str) -> http.client.HTTPConnection:
    """A connection to an address that was checked; without redirects and proxies."""
    assert url.hostname is not None
    secure = url.scheme == "https"
    port = url.port or (443 if secure else 80)
    line = _line(url.hostname, port, reach)
    connection = http.client.HTTPConnection(url.hostname, port, timeout=SECONDS)
    try:
        if secure:
            context = ssl.create_default_context(cafile=ca or None)
            line = context.wrap_socket(line, server_hostname=url.hostname)
    except BaseException:
        line.close()
        raise
    connection.sock = line
    return connection


def _line(host: str, port: int, reach: Destinations) -> socket.socket:
    """Connect to the first allowed address of a name that answers."""
    problem: OSError | NotSent = NotSent(f"{host} has no address")
    for family, kind, proto, _, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        if why := reach.refusal(str(where[0])):
            problem = NotSent(why)
            continue
        line = socket.socket(family, kind, proto)
        try:
            line.settimeout(SECONDS)
            line.connect(where)
        except OSError as failed:
            line.close()
            problem = failed
        else:
            return line
    raise problem
