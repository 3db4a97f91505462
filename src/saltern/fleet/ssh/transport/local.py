"""This machine as a host: a shell, without ssh."""

from __future__ import annotations

import os

from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.transport.ports import Channel
from saltern.fleet.ssh.transport.process import start


class LocalShell:
    """Starts one shell for each channel."""

    async def open(self, _host: Host, command: str) -> Channel:
        return await start(["/bin/sh", "-c", command], os.environ)

    async def close(self) -> None:
        """Nothing to do."""
