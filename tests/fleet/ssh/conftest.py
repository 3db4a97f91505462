from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.ssh.server import Server

from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.transport.openssh import OpenSsh, SshOptions


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One sshd for all tests that do not change it."""
    server = Server(tmp_path_factory.mktemp("sshd")).start()
    yield server
    server.stop()


@pytest.fixture
def sockets() -> Iterator[Path]:
    """A directory with a short path, for the connections that ssh keeps."""
    with tempfile.TemporaryDirectory(prefix="s") as path:
        yield Path(path)


async def no_secrets(host: Host, what: str) -> str:
    raise AssertionError(f"{host.id} was asked for its {what} password")


def ssh_for(server: Server, sockets: Path, **options: object) -> OpenSsh:
    given: dict[str, object] = {
        "config": "/dev/null",
        "known_hosts": str(server.known_hosts),
        "directory": str(sockets),
        "keep": 5,
        "connect_limit": 5.0,
        **options,
    }
    return OpenSsh(SshOptions(**given), no_secrets)  # type: ignore[arg-type]
