"""Each host by its own way: those that are this machine by a shell, all others by ssh."""

from __future__ import annotations

from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.transport.local import LocalShell
from saltern.fleet.ssh.transport.ports import Channel, Transport


class Routes:
    """Opens channels by the transport that a host needs."""

    def __init__(self, ssh: Transport) -> None:
        self._ssh = ssh
        self._local = LocalShell()

    async def open(self, host: Host, command: str) -> Channel:
        return await (self._local if host.local else self._ssh).open(host, command)

    async def close(self) -> None:
        await self._ssh.close()
