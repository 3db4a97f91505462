"""A login with a browser: the provider redirects it to a local port, which waits for the code."""

from __future__ import annotations

import hashlib
import hmac
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from saltern.fleet.client.access import Own
from saltern.language.diagnostics import Diagnostic, OperationError

PATH = "/callback"
SECONDS = 300.0
DONE = b"<!doctype html><title>saltern</title><p>You are logged in. This window can be closed."
FAILED = b"<!doctype html><title>saltern</title><p>The login failed: look at the terminal."


def log_in_with_browser(own: Own, show: Callable[[str], None], *, seconds: float = SECONDS) -> dict[str, Any]:
    """Begin a session. ``show`` gets the address that the person has to open."""
    verifier = token_urlsafe(64)
    challenge = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    with Loopback() as loopback:
        begun = own.begin_oidc(loopback.redirect, challenge)
        show(begun["address"])
        back = loopback.wait(begun["state"], seconds)
        return own.finish_oidc(begun["state"], back["code"], verifier, issuer=back.get("iss", ""))


class Loopback(HTTPServer):
    """Waits on 127.0.0.1 for one request with the right state; all others are refused, and the wait
    continues.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.redirect = f"http://127.0.0.1:{self.server_address[1]}{PATH}"
        self.state = ""
        self.answer: dict[str, str] | None = None

    def wait(self, state: str, seconds: float) -> dict[str, str]:
        """The parameters that came back. Raises ``OperationError`` after a timeout, or if the provider
        refuses.
        """
        self.state = state
        end = time.monotonic() + seconds
        while self.answer is None and (left := end - time.monotonic()) > 0:
            self.timeout = left
            self.handle_request()
        if self.answer is None:
            raise _refusal(f"nothing came back from the browser in {seconds:.0f} s")
        if "code" not in self.answer:
            word = self.answer.get("error", "it gives no code")
            raise _refusal(f"the provider refuses: {word[:100]!r}")
        return self.answer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a broken connection: it is not the one awaited."""


class _Handler(BaseHTTPRequestHandler):
    server: Loopback
    timeout = 10.0  # a connection that sends nothing must not hold the others

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        given = dict(parse_qsl(parts.query))
        if parts.path != PATH or not hmac.compare_digest(
            given.get("state", "").encode(), self.server.state.encode()
        ):
            self.send_error(404)
            return
        self.server.answer = given
        body = DONE if "code" in given else FAILED
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Log nothing: the address contains the code."""


def _refusal(what: str) -> OperationError:
    return OperationError(Diagnostic(code="login-refused", what=what, fix="begin again: saltern login"))
