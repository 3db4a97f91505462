"""``Ask``: the only way in which a page reads or changes anything.

It calls a row of the API's table through the API's own dispatch: authentication, the policy, validation,
client tokens and the audit are the same as for a script. A page can do nothing that a script cannot.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from secrets import token_urlsafe
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from saltern.fleet.access.ports import Principal
from saltern.fleet.api.call import Desk
from saltern.fleet.api.dispatch import answer_request
from saltern.fleet.api.once import HEADER
from saltern.fleet.api.route import Route
from saltern.fleet.api.table import ROUTES
from saltern.fleet.controller.inventory import SEEN

ROWS: dict[tuple[str, str], Route] = {(route.method, route.path): route for route in ROUTES}
NAME = re.compile(r"\{(\w+)\}")
# Routes that take a body because it is long, and change nothing: their answers are not stored.
LOOKS = frozenset({"/v1/resolve", "/v1/draft-chain", "/v1/validate-chain", "/v1/policy/explain"})
NO_HEADERS: Mapping[str, str] = {}
PAGE = 1000  # rows of a page of a list that is read whole


class Ask:
    """The API as one visitor. ``secret`` is that of their session; ``who`` is only for data shared by all
    readers of a topic, and can only read.
    """

    def __init__(
        self,
        desk: Desk,
        secret: str = "",
        *,
        client: tuple[str, int] | None = None,
        id: str = "console",
        who: Principal | None = None,
    ) -> None:
        self.desk = desk
        self._secret = secret
        self._client = client
        self._id = id
        self._who = who
        self._seen: set[int] | None = set() if who is None else None  # those of a topic last longer
        self._known: Principal | None = None  # the owner of the secret, since the first request of the page

    async def get(self, path: str, **given: object) -> Any:
        """The answer of a ``GET`` route. ``given``: the names in its path, the rest is the query."""
        return await self._call("GET", path, given)

    async def get_bytes(self, path: str, **given: object) -> bytes:
        """The same as raw bytes."""
        return await self._bytes("GET", path, given)

    async def every(self, path: str, most: int = 10_000, **given: object) -> list[Any]:
        """All rows of a list, page by page, up to ``most``."""
        rows: list[Any] = []
        cursor: str | None = ""
        while cursor is not None and len(rows) < most:
            page = await self.get(path, **{"limit": PAGE, **given, "cursor": cursor})
            rows += page["items"]
            cursor = page["next"]
        return rows[:most]

    async def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None,
        *,
        client_token: str = "",
        reason: str = "",
        **given: str,
    ) -> Any:
        """The answer of a route that changes something; the same client token again is the same request.

        ``reason`` is kept in the audit.
        """
        if path in LOOKS:
            return await self._call(method, path, given, body)
        if self._who is not None:
            raise RuntimeError("what is shared by readers changes nothing")
        more = {HEADER: client_token or token_urlsafe(18)} | ({"reason": quote(reason)} if reason else {})
        return await self._call(method, path, given, body, more)

    async def _call(
        self,
        method: str,
        path: str,
        given: Mapping[str, object],
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Any:
        found = await self._bytes(method, path, given, body, headers)
        return msgspec.json.decode(found) if found else None

    async def _bytes(
        self,
        method: str,
        path: str,
        given: Mapping[str, object],
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> bytes:
        route = ROWS[method, path]
        names = NAME.findall(path)
        parts = {name: str(given[name]) for name in names}
        query = {
            name: _word(value) for name, value in given.items() if name not in parts and value not in _LEFT
        }
        data = b"" if body is None else msgspec.json.encode(body)
        request = Request(self._scope(method, _fill_in(path, parts), query, headers), _receive(data))
        request.scope["path_params"] = parts
        is_look = method == "GET" or path in LOOKS
        SEEN.set(self._seen if is_look else None)  # the action applies to the systems that match now
        answer = await answer_request(self.desk, route, request, who=self._who, known=self._known)
        if is_look:
            self._known = request.scope.get("saltern_principal") or self._known
        else:
            self._known = None  # the change may concern the reader
        if not isinstance(answer, Response):
            raise RuntimeError(f"{path} is a stream, which no page reads")
        return bytes(answer.body)

    def _scope(
        self, method: str, path: str, query: Mapping[str, str], more: Mapping[str, str]
    ) -> dict[str, Any]:
        headers = {"content-type": "application/json", "host": "console", **more}
        headers |= {"authorization": f"Bearer {self._secret}"} if self._secret else {}
        return {
            "type": "http",
            "method": method,
            "path": path,
            "root_path": "",
            "query_string": urlencode(query).encode(),
            "headers": [
                (name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()
            ],
            "client": self._client,
            "state": {},  # never the user of the socket: anyone may use a browser behind it
            "saltern_id": self._id,
        }


_LEFT = (None, "", False)


def _word(value: object) -> str:
    return "true" if value is True else str(value)


def _fill_in(path: str, parts: Mapping[str, str]) -> str:
    return NAME.sub(lambda found: quote(parts[found[1]], safe=""), path)


def _receive(data: bytes) -> Any:
    parts = [{"type": "http.request", "body": data, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not parts:
            await asyncio.Event().wait()
        return parts.pop()

    return receive
