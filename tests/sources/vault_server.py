"""A small server that answers as Vault's HTTP API is documented to: logins, mounts, stores."""

from __future__ import annotations

import http.server
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.sources.http_server import serving

STORES = {"secret": 2, "old": 1, "team/kv": 2}
TOKEN, ROLE, SECRET = "hvs.t0ken-of-test", "role-1", "secret-id-1"


class _Vault(http.server.BaseHTTPRequestHandler):
    data: dict[str, dict[str, Any]] = {}
    seen: list[str] = []

    def do_GET(self) -> None:
        self.seen.append(self.path)
        if self.headers.get("X-Vault-Token") != TOKEN:
            self._send(403, {"errors": ["permission denied"]})
            return
        path = self.path.removeprefix("/v1/")
        if path.startswith("sys/internal/ui/mounts/"):
            self._send(*self._mount(path.removeprefix("sys/internal/ui/mounts/")))
        else:
            self._send(*self._value(path))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/v1/auth/approle/login" and body == {"role_id": ROLE, "secret_id": SECRET}:
            self._send(200, {"auth": {"client_token": TOKEN, "lease_duration": 60}})
        elif self.headers.get("X-Vault-Token") == TOKEN:
            key, version = self._key(self.path.removeprefix("/v1/"))
            self.data[key] = body["data"] if version == 2 else body
            self._send(200, {"data": {"version": 2}})
        else:
            self._send(400, {"errors": ["invalid role or secret ID"]})

    def do_DELETE(self) -> None:
        self.data.pop(self._key(self.path.removeprefix("/v1/"))[0], None)
        self.send_response(204)
        self.end_headers()

    def _mount(self, path: str) -> tuple[int, object]:
        for name, version in STORES.items():
            if path == name or path.startswith(f"{name}/"):
                options = {"version": "2"} if version == 2 else None
                return 200, {"data": {"path": f"{name}/", "type": "kv", "options": options}}
        return 403, {"errors": ["preflight capability check returned 403"]}

    def _value(self, path: str) -> tuple[int, object]:
        key, version = self._key(path)
        if key not in self.data:
            return 404, {"errors": []}
        value = self.data[key]
        return 200, {"data": {"data": value, "metadata": {"version": 1}} if version == 2 else value}

    def _key(self, path: str) -> tuple[str, int]:
        for name, version in STORES.items():
            prefix = f"{name}/data/" if version == 2 else f"{name}/"
            if path.startswith(prefix):
                return f"{name}/{path.removeprefix(prefix)}", version
        return "", 0

    def _send(self, code: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def vault_server(data: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Its address."""
    handler = type("Handler", (_Vault,), {"data": data, "seen": []})
    with serving(handler) as url:
        yield url
