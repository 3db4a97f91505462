"""Chooses the transport of each host: a shell for this machine, ssh for all others."""

from __future__ import annotations

from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.transport.local import LocalShell
from saltern.fleet.ssh.transport.openssh import OpenSsh, SshOptions
from saltern.fleet.ssh.transport.ports import Channel, Secrets, Transport
from saltern.language.diagnostics import Diagnostic, OperationError

ASYNCSSH = "asyncssh"


def make_transport(name: str, options: SshOptions, secrets: Secrets) -> Transport:
    """The transport of this name. Raises ``OperationError`` if its library is not installed."""
    if name != ASYNCSSH:
        return OpenSsh(options, secrets)
    try:
        from saltern.fleet.ssh.transport.async_ssh import AsyncSsh
    except ModuleNotFoundError as problem:
        what = f"the transport {name!r} needs a library that is not installed: {problem.name}"
        raise OperationError(
            Diagnostic(code="ssh-transport", what=what, fix="pip install 'saltern[ssh]'")
        ) from None
    return AsyncSsh(options, secrets)


class Routes:
    """Opens channels by the transport that a host needs."""

    def __init__(self, ssh: Transport) -> None:
        self._ssh = ssh
        self._local = LocalShell()

    async def open(self, host: Host, command: str) -> Channel:
        return await (self._local if host.local else self._ssh).open(host, command)

    async def close(self) -> None:
        await self._ssh.close()
