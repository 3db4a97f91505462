"""Passwords of hosts: from the roster, from a command that prints them, or asked for once at the terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from saltern.fleet.ssh.problems import Unreached
from saltern.fleet.ssh.roster.host import Host, Password

COMMAND_LIMIT = 60.0
Prompt = Callable[[str], str]
KINDS = {"login": "password for ssh", "become": "password for sudo, doas or su"}


def no_prompt(_prompt: str) -> str:
    """Refuse to prompt, in a process without a terminal."""
    raise Unreached("no-password", "there is no terminal to ask for one")


class Passwords:
    """``prompt`` asks a person; it is called once for each kind, and the answer serves all hosts."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self._asked: dict[str, str] = {}
        self._printed: dict[str, str] = {}
        self._lock = asyncio.Lock()

    async def of(self, host: Host, kind: str) -> str:
        """The password of a host. Raises ``Unreached`` if there is none."""
        password = host.password if kind == "login" else host.become_password
        if password.command:
            return await self._from_command(host, password)
        return password.text or await self._from_person(kind)

    async def _from_person(self, kind: str) -> str:
        async with self._lock:
            if kind not in self._asked:
                self._asked[kind] = await asyncio.to_thread(self._prompt, f"{KINDS[kind]}: ")
            return self._asked[kind]

    async def _from_command(self, host: Host, password: Password) -> str:
        async with self._lock:
            if password.command not in self._printed:
                self._printed[password.command] = await _command_output(host, password.command)
            return self._printed[password.command]


async def _command_output(host: Host, command: str) -> str:
    """The first line that a command of the roster's owner prints."""
    process = await asyncio.create_subprocess_shell(
        command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(COMMAND_LIMIT):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        raise Unreached("no-password", f"{host.id}: the command took too long") from None
    text = out.decode("utf-8", "replace").split("\n", 1)[0]
    if process.returncode or not text:
        raise Unreached("no-password", err.decode("utf-8", "replace"))
    return text
