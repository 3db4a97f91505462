"""Requests as values: JSON in and out, problems as ``ControllerError``, lists page by page."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from saltern import __version__
from saltern.fleet.client.address import Address
from saltern.fleet.client.problems import ControllerError, foreign
from saltern.fleet.client.transport import Reply, Transport, Trust
from saltern.language.diagnostics import Diagnostic

PAGE = 500
TRIES = 120
AGAIN = 1.0  # seconds
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")


class Session:
    """The caller and the controller. Threads may share it; their requests run one at a time."""

    def __init__(self, address: Address, token: str = "", trust: Trust = Trust()) -> None:  # noqa: B008
        self.address = address
        self.token = token
        self.trust = trust
        self._transport = Transport(address, trust)
        self._lock = threading.Lock()

    def get(self, path: str, **query: object) -> Any:
        return self._ask("GET", path + query_text(query))

    def post(self, path: str, body: Mapping[str, object] | None = None, *, client_token: str = "") -> Any:
        """Send a write. A repeated client token means the same write, and gets the same answer."""
        return self._ask("POST", path, body or {}, client_token or new_token())

    def put(self, path: str, body: Mapping[str, object]) -> Any:
        return self._ask("PUT", path, body, new_token())

    def patch(self, path: str, body: Mapping[str, object]) -> Any:
        return self._ask("PATCH", path, body, new_token())

    def delete(self, path: str, *, client_token: str = "") -> Any:
        return self._ask("DELETE", path, None, client_token or new_token())

    def pages(self, path: str, **query: object) -> Iterator[dict[str, Any]]:
        """All rows of a list, fetched page by page as they are used."""
        cursor = ""
        while True:
            page = self.get(path, **{"limit": PAGE, **query, "cursor": cursor})
            yield from page["items"]
            cursor = page["next"]
            if not cursor:
                return

    def headers(self) -> dict[str, str]:
        made = {"User-Agent": f"saltern/{__version__}", "Accept": "application/json"}
        return {**made, "Authorization": f"Bearer {self.token}"} if self.token else made

    def close(self) -> None:
        self._transport.close()

    def _ask(
        self, method: str, path: str, body: Mapping[str, object] | None = None, client_token: str = ""
    ) -> Any:
        more, data = write_request(body, client_token)
        with self._lock:
            return self._answer(method, path, {**self.headers(), **more}, data)

    def _answer(self, method: str, path: str, headers: Mapping[str, str], data: bytes | None) -> Any:
        """The answer; a repeated write that is still in progress is requested again."""
        for _ in range(TRIES):
            reply = self._transport.exchange(method, path, headers, data)
            if reply.status != 409 or b'"api-in-progress"' not in reply.body:
                break
            time.sleep(AGAIN)
        return read_reply(self.address, reply)


def write_request(
    body: Mapping[str, object] | None, client_token: str
) -> tuple[dict[str, str], bytes | None]:
    """The headers for a body and a client token, and the body as it is sent."""
    headers = {"Client-Token": client_token} if client_token else {}
    if body is None:
        return headers, None
    check_finite(body)
    return {**headers, "Content-Type": "application/json"}, msgspec.json.encode(body)


def read_reply(address: Address, reply: Reply) -> Any:
    """The value of an answer; raises a refusal."""
    text = reply.body.decode(errors="replace")
    if reply.status == 204:
        return None
    if reply.headers.get("content-type", "").startswith("text/plain") and reply.status == 200:
        return text
    try:
        value = msgspec.json.decode(reply.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise foreign(address, reply.status, text) from None
    if reply.status >= 400:
        raise refusal(address, reply, value)
    return value


def refusal(address: Address, reply: Reply, value: Any) -> ControllerError:
    if not isinstance(value, dict) or not isinstance(value.get("code"), str):
        return foreign(address, reply.status, str(value))
    problem = Diagnostic(code=value["code"], what=str(value.get("what", "")), fix=str(value.get("fix", "")))
    return ControllerError(problem, reply.status, reply.headers.get("x-request-id", ""))


def query_text(query: Mapping[str, object]) -> str:
    """The query string of a path; empty parameters are left out."""
    given = [
        f"{name}={part(_word(value))}" for name, value in query.items() if value not in (None, "", False)
    ]
    return f"?{'&'.join(given)}" if given else ""


def _word(value: object) -> str:
    return "true" if value is True else str(value)


def part(text: str) -> str:
    """A text encoded as one part of a path, or as the value of a parameter."""
    return "".join([chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in text.encode()])


def new_token() -> str:
    """A random token for one write."""
    return os.urandom(18).hex()


def check_finite(value: object) -> None:
    """Raise ``ValueError`` for a number that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} cannot be sent: it is not a finite number")
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        check_finite(one)
