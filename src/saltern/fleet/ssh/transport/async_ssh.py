"""asyncssh in place of the system's ssh: no process for each host. An extra, ``saltern[ssh]``.

It reads the user's ``~/.ssh/config``, keys and agent, as far as asyncssh knows their options.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import socket
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import asyncssh

from saltern.fleet.ssh.problems import Unreached, classify
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.transport.openssh import SshOptions, socket_directory
from saltern.fleet.ssh.transport.ports import MOST_ERRORS, Channel, Ended, Secrets

USER_CONFIG = ".ssh/config"
USER_KNOWN = ".ssh/known_hosts"
SOME = 65_536
GRACE = 2.0  # seconds for the other side to close a channel


class HostKeys(asyncssh.SSHClient):
    """Decides about a host key that is not among the known ones: new, or changed."""

    def __init__(self, path: str, *, accept_new: bool) -> None:
        self._path = path
        self._accept_new = accept_new
        self.verdict = ""

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        known = asyncssh.match_known_hosts(self._path, host, addr, port) if os.path.exists(self._path) else ()
        if any(known):
            self.verdict = "host-key-changed"
            return False
        self.verdict = "" if self._accept_new else "host-key-unknown"
        if self._accept_new:
            self._add(host, port, key)
        return self._accept_new

    def _add(self, host: str, port: int, key: asyncssh.SSHKey) -> None:
        name = host if port == asyncssh.DEFAULT_PORT else f"[{host}]:{port}"
        os.makedirs(os.path.dirname(self._path), 0o700, exist_ok=True)
        with open(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
            file.write(name.encode() + b" " + key.export_public_key().strip() + b"\n")


class AsyncChannel:
    """One program on a host, over a connection that others share."""

    def __init__(self, process: asyncssh.SSHClientProcess[bytes]) -> None:
        self._process = process
        self._data = bytearray()
        self._changed = asyncio.Event()
        self._lost = ""
        self._listener = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        with suppress(asyncssh.Error, OSError):
            while data := await self._process.stderr.read(SOME):
                self._data += data
                del self._data[:-MOST_ERRORS]
                self._changed.set()

    async def read(self, most: int) -> bytes:
        try:
            data: bytes = await self._process.stdout.read(most)
            return data
        except (asyncssh.Error, OSError) as problem:
            self._lost = str(problem) or type(problem).__name__
            return b""

    async def write(self, data: bytes | memoryview) -> None:
        with suppress(asyncssh.Error, OSError):  # wait() reports the result
            self._process.stdin.write(bytes(data))
            await self._process.stdin.drain()

    async def end_input(self) -> None:
        with suppress(asyncssh.Error, OSError):
            self._process.stdin.write_eof()

    async def wait(self) -> Ended:
        await self._process.wait_closed()
        await asyncio.wait({self._listener})
        code = self._process.returncode
        errors = f"{self.errors()}\n{self._lost}" if self._lost else self.errors()
        return Ended(code if code is not None and code >= 0 else None, errors)

    async def kill(self) -> None:
        self._process.close()
        with suppress(TimeoutError, asyncssh.Error, OSError):
            async with asyncio.timeout(GRACE):
                await self._process.wait_closed()
        self._listener.cancel()
        await asyncio.wait({self._listener})

    def errors(self) -> str:
        return self._data.decode("utf-8", "replace")

    async def until_errors(self, text: str) -> None:
        while text not in self.errors():
            self._changed.clear()
            await self._changed.wait()


class AsyncSsh:
    """Keeps one connection to each host, and opens channels on it."""

    def __init__(self, options: SshOptions, secrets: Secrets) -> None:
        self._options = options
        self._secrets = secrets
        self._directory = socket_directory(options.directory)
        self._open: dict[str, asyncssh.SSHClientConnection] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def open(self, host: Host, command: str) -> Channel:
        for last in (False, True):
            connection = await self._connection(host)
            try:
                terminal = "dumb" if host.terminal else None
                process = await connection.create_process(command, encoding=None, term_type=terminal)
                return AsyncChannel(process)
            except (asyncssh.Error, OSError) as problem:
                self._open.pop(_name(host), None)  # a kept connection may have ended meanwhile
                connection.abort()
                if last:
                    raise _unreached_from(problem, "") from None
        raise AssertionError

    async def _connection(self, host: Host) -> asyncssh.SSHClientConnection:
        name = _name(host)
        async with self._locks.setdefault(name, asyncio.Lock()):
            kept = self._open.get(name)
            if kept is None or kept.is_closed():
                self._open[name] = await self._connect(host)
            return self._open[name]

    async def _connect(self, host: Host) -> asyncssh.SSHClientConnection:
        known = self._options.known_hosts or _of_user(USER_KNOWN)
        keys = HostKeys(known, accept_new=self._options.accept_new)
        given = await self._connection_options(host, known)
        try:
            connection, _ = await asyncssh.create_connection(lambda: keys, host.address, **given)
        except (asyncssh.Error, OSError, TimeoutError, ValueError) as problem:
            lost = isinstance(problem, asyncssh.ConnectionLost | ConnectionResetError)
            raise _unreached_from(problem, keys.verdict or ("busy" if lost else "")) from None
        return connection

    async def _connection_options(self, host: Host, known: str) -> dict[str, Any]:
        """The options of a connection. What is left out is taken from the configuration."""
        limit = host.connect_limit or self._options.connect_limit
        found: dict[str, Any] = {
            "config": self._configs(host),
            "known_hosts": known if os.path.exists(known) else (),
            "connect_timeout": limit,
            "login_timeout": max(limit, 1.0) * 2,
            "keepalive_interval": self._options.alive_interval,
            "username": host.user or None,
            "port": host.port,
            "client_keys": [os.path.expanduser(key) for key in host.keys] or None,
            "tunnel": host.jump or None,
        }
        if host.password:
            found["password"] = await self._secrets(host, "login")
        return {name: value for name, value in found.items() if value not in (None, "")}

    def _configs(self, host: Host) -> list[str]:
        """The options of the roster as a file, and that of the user."""
        user = host.config or self._options.config or _of_user(USER_CONFIG)
        files = [user] if os.path.exists(user) and user != os.devnull else []
        if not host.settings:
            return files
        path = os.path.join(self._directory, f"{os.getpid()}.config")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.writelines(f"{_line(setting)}\n" for setting in host.settings)
        return [path, *files]

    async def close(self) -> None:
        """End all connections."""
        connections = list(self._open.values())
        self._open.clear()
        for one in connections:
            one.close()
        for one in connections:
            with suppress(TimeoutError, asyncssh.Error, OSError):
                async with asyncio.timeout(GRACE):
                    await one.wait_closed()
        with suppress(FileNotFoundError):
            os.remove(os.path.join(self._directory, f"{os.getpid()}.config"))


def _of_user(path: str) -> str:
    """A file in the account's home directory, ignoring HOME, as ssh does."""
    return os.path.join(pwd.getpwuid(os.getuid()).pw_dir, path)


def _name(host: Host) -> str:
    made = (host.address, host.user, host.port, host.keys, host.settings, host.jump, host.config)
    return repr(made)


def _line(setting: str) -> str:
    """``Name=value`` as a line of a configuration file, and no more than one."""
    name, _, value = setting.partition("=")
    return f"{name.strip()} {value.strip()}".replace("\n", " ")


def _unreached_from(problem: Exception, verdict: str) -> Unreached:
    """The class of a problem, by its type, else by its text."""
    said = f"{problem}" or type(problem).__name__
    if verdict:
        return Unreached(verdict, said)
    kind = next((name for shapes, name in KINDS if isinstance(problem, shapes)), "")
    return Unreached(kind or classify(None, said), said)


KINDS: Iterable[tuple[tuple[type[Exception], ...], str]] = (
    ((asyncssh.HostKeyNotVerifiable,), "host-key-unknown"),
    ((asyncssh.PermissionDenied, asyncssh.KeyImportError, asyncssh.KeyEncryptionError), "auth"),
    ((ConnectionRefusedError,), "refused"),
    ((TimeoutError,), "timeout"),
    ((socket.gaierror,), "unreachable"),
    ((ConnectionResetError, BrokenPipeError, asyncssh.ConnectionLost), "cut"),
    ((OSError,), "unreachable"),
)
