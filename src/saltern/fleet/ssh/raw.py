"""Runs one shell command on many hosts, for machines without a Python: no states, no journal, no
guarantees.
"""

from __future__ import annotations

import asyncio
import re
import shlex

from msgspec import Struct

from saltern.fleet.ssh.drive import Reach
from saltern.fleet.ssh.patience import when_free
from saltern.fleet.ssh.problems import Unreached, classify
from saltern.fleet.ssh.remote.command import BECOME
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.session import give_password
from saltern.fleet.ssh.transport.ports import Channel

MOST_OUTPUT = 4 * 1024 * 1024
CUT = 255
_CHATTER = re.compile(r"^ControlSocket \S+ already exists, disabling multiplexing\r?\n", re.MULTILINE)


class Said(Struct, frozen=True):
    """What a command printed, and how it ended; or why the host was not reached."""

    code: int = 0
    out: str = ""
    err: str = ""
    problem: Unreached | None = None


def run_raw(hosts: list[Host], command: str, reach: Reach, *, limit: float = 0.0) -> dict[str, Said]:
    """Run the command on every host, and return the output of each. ``limit``: seconds for each; 0
    for none.
    """

    async def one(host: Host) -> Said:
        try:
            async with asyncio.timeout(limit or None):
                return await when_free(lambda: _run(host, command, reach))
        except TimeoutError:
            return Said(problem=Unreached("timeout", f"more than {limit:g} seconds"))
        except Unreached as problem:
            return Said(problem=problem)

    return asyncio.run(reach.on_each(hosts, one))


async def _run(host: Host, command: str, reach: Reach) -> Said:
    inner = f"/bin/sh -c {shlex.quote(command)}"
    channel = await reach.transport.open(host, BECOME[host.become](host, inner) if host.become else inner)
    asked = asyncio.create_task(give_password(host, channel, reach.secrets)) if host.become_password else None
    try:
        out = await _output(channel)
        ended = await channel.wait()
    finally:
        if asked is not None:
            asked.cancel()
        await channel.kill()
    if ended.code is None or (ended.code == CUT and not out):
        raise Unreached(classify(ended.code, ended.errors), ended.errors)
    return Said(ended.code, out, _CHATTER.sub("", ended.errors))


async def _output(channel: Channel) -> str:
    read = bytearray()
    while data := await channel.read(65_536):
        read += data[: MOST_OUTPUT - len(read)]
    return read.decode("utf-8", "replace")
