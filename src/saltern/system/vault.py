"""A client for Vault's key-value stores, versions 1 and 2, through HTTP, with a token or an AppRole."""

from __future__ import annotations

import json
import os
import ssl
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote

from saltern.system.web_answer import NoAnswer, answer


class VaultError(Exception):
    """Vault cannot be reached, or refuses; the text contains no secret."""


class NothingThere(VaultError):
    """There is nothing at a path."""


class Refused(VaultError):
    """The token does not allow the request, or is no longer valid."""


_clients: dict[str, Vault] = {}  # by their configuration


def client_of(config: Mapping[str, Any]) -> Vault:
    """The client for a configuration, one for this process: a secret_id may be valid for only one login."""
    key = json.dumps([config, os.environ.get("VAULT_ADDR"), os.environ.get("VAULT_TOKEN")], default=str)
    if key not in _clients:
        _clients[key] = Vault(config)
    return _clients[key]


class Vault:
    """A server, described by ``vault`` in the configuration, in Salt's current or older form."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        server = {**config, **(config.get("server") or {})}
        self._url = str(server.get("url") or os.environ.get("VAULT_ADDR") or "").rstrip("/")
        self._auth: Mapping[str, Any] = config.get("auth") or {}
        self._namespace = str(server.get("namespace") or "")
        self._verify = server.get("verify", True)
        self._token = ""
        self._mounts: dict[str, tuple[str, int]] = {}
        if not self._url.startswith(("http://", "https://")):
            raise VaultError("the configuration has no address of Vault: vault: {server: {url: https://…}}")

    @property
    def credentials(self) -> list[str]:
        """The values of the configuration that must not be shown."""
        return [str(self._auth[name]) for name in ("token", "secret_id") if self._auth.get(name)]

    def read(self, path: str) -> dict[str, Any]:
        """The values at a path. Raises ``VaultError``; also if the path does not exist."""
        found = self.find(path)
        if found is None:
            raise VaultError(f"there is nothing at {path.strip('/')!r}")
        return found

    def find(self, path: str) -> dict[str, Any] | None:
        """The values at a path, if there are any. Raises ``VaultError``."""
        where, version = self._where(path)
        try:
            data = self._ask("GET", where).get("data") or {}
        except NothingThere:
            return None
        found = data.get("data") if version == 2 else data
        return found if isinstance(found, dict) else None

    def write(self, path: str, values: Mapping[str, Any]) -> None:
        """Replace the values at a path. Raises ``VaultError``."""
        where, version = self._where(path)
        self._ask("POST", where, {"data": values} if version == 2 else values)

    def remove(self, path: str) -> None:
        self._ask("DELETE", self._where(path)[0])

    def _where(self, path: str) -> tuple[str, int]:
        """The path in the form of the API, and the version of its store."""
        path = path.strip("/")
        mount, version = self._mount(path)
        inner = path.removeprefix(mount).strip("/")
        return f"{mount}/data/{inner}" if version == 2 and not inner.startswith("data/") else path, version

    def _mount(self, path: str) -> tuple[str, int]:
        """The store that a path is in, and its version."""
        for mount, known in self._mounts.items():
            if path.startswith(mount):
                return known
        try:
            data = self._ask("GET", f"sys/internal/ui/mounts/{path}").get("data") or {}
        except Refused:  # also if there is no store
            raise Refused(_REFUSALS[403].format(403, path)) from None
        mount = str(data.get("path") or path.partition("/")[0]).strip("/")
        version = int((data.get("options") or {}).get("version") or 1)
        self._mounts[f"{mount}/"] = (mount, version)
        return mount, version

    def _login(self) -> str:
        if self._token:
            return self._token
        auth = self._auth
        method = str(auth.get("method") or "token")
        if method == "token":
            self._token = str(auth.get("token") or os.environ.get("VAULT_TOKEN") or "")
        elif method == "approle":
            mount = str(auth.get("approle_mount") or auth.get("mount") or "approle")
            body = {"role_id": auth.get("role_id"), "secret_id": auth.get("secret_id")}
            given = {name: value for name, value in body.items() if value}
            said = self._send("POST", f"auth/{mount}/login", given, "")
            self._token = str((said.get("auth") or {}).get("client_token") or "")
        else:
            raise VaultError(f"the method {method!r} is not supported; use token or approle")
        if not self._token:
            raise VaultError("there is no token for Vault: set auth in the configuration, or VAULT_TOKEN")
        return self._token

    def _ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Send a request with the current token. If one from a login has expired, log in again."""
        used = bool(self._token) and self._auth.get("method") == "approle"
        try:
            return self._send(method, path, body, self._login())
        except Refused:
            if not used:
                raise
            self._token = ""
            return self._send(method, path, body, self._login())

    def _send(self, method: str, path: str, body: object, token: str) -> dict[str, Any]:
        headers = {"X-Vault-Request": "true"}
        headers |= {"X-Vault-Token": token} if token else {}
        headers |= {"X-Vault-Namespace": self._namespace} if self._namespace else {}
        data = None if body is None else json.dumps(body).encode()
        address = f"{self._url}/v1/{quote(path)}"
        request = urllib.request.Request(address, data=data, headers=headers, method=method)
        try:
            found = json.loads(answer(request, self._context()) or b"{}")
        except HTTPError as problem:
            problem.close()
            what = _REFUSALS.get(problem.code, "Vault responded with {}").format(problem.code, path)
            raise _KINDS.get(problem.code, VaultError)(what) from None
        except NoAnswer as problem:
            raise VaultError(f"Vault at {self._url}: {problem}") from None
        except ValueError:
            raise VaultError(f"{self._url} does not respond like Vault") from None
        return found if isinstance(found, dict) else {}

    def _context(self) -> ssl.SSLContext | None:
        if not self._url.startswith("https://") or self._verify is True:
            return None
        if self._verify is False:
            return ssl._create_unverified_context()
        return ssl.create_default_context(cafile=str(self._verify))


_KINDS: dict[int, type[VaultError]] = {403: Refused, 404: NothingThere}
_REFUSALS = {
    400: "Vault refuses the request for {1!r}: are role_id and secret_id right?",
    403: "Vault refuses {1!r} with this token",
    404: "there is nothing at {1!r}",
    503: "Vault is sealed or starting",
}
