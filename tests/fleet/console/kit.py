"""The console over a controller of its own: pages asked for without a server, or of one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct, field
from tests.fleet.api.kit import Running, running_api

from saltern.fleet.api.wrapper import Wrapper
from saltern.fleet.console.app import make_console

PASSWORD = "correct horse battery"


class Shown(Struct):
    """An answer."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    @property
    def text(self) -> str:
        return self.body.decode()

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key == name), "")

    def cookies(self) -> dict[str, str]:
        found = (value.partition(";")[0].partition("=") for key, value in self.headers if key == "set-cookie")
        return {name: value for name, _, value in found}


class Browser:
    """A visitor: keeps cookies, sends forms as the pages have them."""

    def __init__(self, running: Running, *, https: bool = False, root: str = "") -> None:
        self.running, self.https, self.root = running, https, root
        self.cookies: dict[str, str] = {}
        self.address = "192.0.2.7"
        self.host = "console.test"

    @property
    def app(self) -> Wrapper:
        return self.running.server.app

    def get(self, path: str, **headers: str) -> Shown:
        return self.send("GET", path, headers=headers)

    def post(self, path: str, fields: Mapping[str, Any], **headers: str) -> Shown:
        data = urlencode(fields, doseq=True).encode()
        kind = {"content-type": "application/x-www-form-urlencoded"}
        return self.send("POST", path, data, {**kind, **headers})

    def send(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Shown:
        found: Shown = self.running.run(self._send(method, path, body, headers or {}))
        for name, value in found.cookies().items():
            if value in ("", '""'):
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return found

    async def _send(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Shown:
        found = Shown()
        where, _, query = (self.root + path).partition("?")
        given = {"host": self.host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if self.cookies:
            given["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        parts = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Any:
            if parts:
                return parts.pop()
            return await asyncio.Event().wait()

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                found.status = message["status"]
                found.headers = [(name.decode(), value.decode()) for name, value in message["headers"]]
            else:
                found.body += message.get("body", b"")

        scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "path": where,
            "root_path": "",
            "scheme": "https" if self.https else "http",
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "client": (self.address, 1),
            "server": ("console.test", 443),
            "state": {},
        }
        await self.app(scope, receive, send)
        return found

    def sign_in(self, name: str, password: str = PASSWORD, **more: str) -> Shown:
        token = form_token(self.get("/sign-in").text)
        return self.post("/sign-in", {"csrf": token, "name": name, "password": password, **more})

    def act(self, page: str, path: str, fields: Mapping[str, Any], **headers: str) -> Shown:
        """Send a form with the token of a page."""
        return self.post(path, {"csrf": form_token(self.get(page).text), **fields}, **headers)


def form_token(text: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', text)
    assert found is not None, text[:2000]
    return found[1]


@contextmanager
def running_console(folder: Path, **more: Any) -> Iterator[Running]:
    with running_api(folder, site=partial(make_console, name="prod"), **more) as running:
        client = running.client()
        for name in ("viewer", "operator", "approver", "admin"):
            client.operators.add(name, roles=[name], password=PASSWORD)
        yield running
