"""What both transports promise, against a real sshd: the same suite for each."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.ssh.conftest import no_secrets
from tests.fleet.ssh.server import Server, free_port
from tests.fleet.ssh.test_raw import reach_of

from saltern.fleet.ssh import patience
from saltern.fleet.ssh.bundle.make import Bundles
from saltern.fleet.ssh.drive import Drive, Reach, Work
from saltern.fleet.ssh.pool import Limits
from saltern.fleet.ssh.problems import Unreached
from saltern.fleet.ssh.raw import run_raw
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.roster.read import read_roster
from saltern.fleet.ssh.session import open_session
from saltern.fleet.ssh.transport.openssh import OpenSsh, SshOptions
from saltern.fleet.ssh.transport.ports import Channel, Ended, Transport

Make = Callable[..., Transport]
LIMIT = 60.0


def openssh(options: SshOptions) -> Transport:
    return OpenSsh(options, no_secrets)


def async_ssh(options: SshOptions) -> Transport:
    pytest.importorskip("asyncssh")
    from saltern.fleet.ssh.transport.async_ssh import AsyncSsh

    return AsyncSsh(options, no_secrets)


MAKERS = {"openssh": openssh, "asyncssh": async_ssh}


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest, server: Server, sockets: Path) -> Make:
    """Makes a transport that trusts the sshd of the tests."""

    def made(**options: object) -> Transport:
        given: dict[str, Any] = {
            "config": "/dev/null",
            "known_hosts": str(server.known_hosts),
            "directory": str(sockets),
            "keep": 5,
            "connect_limit": 10.0,
            **options,
        }
        return MAKERS[request.param](SshOptions(**given))

    return made


@asynccontextmanager
async def opened(transport: Transport, host: Host, command: str) -> AsyncIterator[Channel]:
    try:
        async with asyncio.timeout(LIMIT):
            channel = await transport.open(host, command)
            try:
                yield channel
            finally:
                await channel.kill()
    finally:
        await transport.close()


async def whole(channel: Channel) -> bytes:
    read = bytearray()
    while data := await channel.read(65_536):
        read += data
    return bytes(read)


def ended(transport: Transport, host: Host, command: str) -> tuple[bytes, Ended]:
    async def main() -> tuple[bytes, Ended]:
        async with opened(transport, host, command) as channel:
            return await whole(channel), await channel.wait()

    return asyncio.run(main())


def problem_of(transport: Transport, host: Host) -> Unreached:
    """Why a session cannot be opened."""

    async def main() -> None:
        try:
            session = await open_session(host, transport, no_secrets)
            await session.close()
        finally:
            await transport.close()

    with pytest.raises(Unreached) as caught:
        asyncio.run(main())
    return caught.value


def test_output_errors_and_exit_code(make: Make, server: Server) -> None:
    out, found = ended(make(), server.host(), "printf out; printf err >&2; exit 7")
    assert (out, found.code, found.errors.strip()) == (b"out", 7, "err")


def test_megabytes_go_there_and_back(make: Make, server: Server) -> None:
    data = bytes(range(256)) * 12_000  # 3 MB

    async def main() -> bytes:
        async with opened(make(), server.host(), "cat") as channel:

            async def send() -> None:
                await channel.write(data)
                await channel.end_input()

            sender = asyncio.create_task(send())
            found = await whole(channel)
            await sender
            return found

    assert asyncio.run(main()) == data


def test_a_question_on_standard_error_is_seen_while_the_program_waits(make: Make, server: Server) -> None:
    async def main() -> bytes:
        command = "printf 'word: ' >&2; read word; echo got $word"
        async with opened(make(), server.host(), command) as channel:
            await channel.until_errors("word:")
            await channel.write(b"x\n")
            return await whole(channel)

    assert asyncio.run(main()) == b"got x\n"


def test_a_second_channel_and_one_after_a_kill(make: Make, server: Server) -> None:
    async def main() -> list[bytes]:
        transport = make()
        async with opened(transport, server.host(), "sleep 1000"):
            second = await transport.open(server.host(), "echo second")
            found = [await whole(second)]
            await second.kill()
            third = await transport.open(server.host(), "echo third")
            found.append(await whole(third))
            await third.kill()
            return found

    assert asyncio.run(main()) == [b"second\n", b"third\n"]


def test_a_cut_ends_the_channel_without_a_code(make: Make, server: Server) -> None:
    async def main() -> tuple[bytes, Ended, bytes]:
        transport = make()
        async with opened(transport, server.host(), "echo begun; sleep 1000") as channel:
            begun = await channel.read(100)
            server.cut()
            assert await whole(channel) == b""
            lost = await channel.wait()
            again = await transport.open(server.host(), "echo again")  # a kept connection is made anew
            found = await whole(again)
            await again.kill()
            return begun, lost, found

    begun, lost, again = asyncio.run(main())
    assert (begun, again) == (b"begun\n", b"again\n")
    assert lost.code in (None, 255)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"user": "no-such-user"}, "auth"),
        ({"address": "no-such-host.invalid"}, "unreachable"),
        ({"python": "/no/such/python"}, "no-interpreter"),
    ],
)
def test_classes_of_problems(make: Make, server: Server, change: dict[str, Any], kind: str) -> None:
    assert problem_of(make(), server.host(**change)).kind == kind


def test_a_port_on_which_nothing_listens(make: Make, server: Server) -> None:
    assert problem_of(make(), server.host(port=free_port())).kind == "refused"


def test_a_key_that_is_not_known_and_then_accepted(make: Make, server: Server, tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.touch()
    assert problem_of(make(known_hosts=str(known)), server.host()).kind == "host-key-unknown"
    accepting = make(known_hosts=str(known), accept_new=True)
    assert ended(accepting, server.host(), "echo in")[0] == b"in\n"
    assert ended(make(known_hosts=str(known)), server.host(), "echo in")[0] == b"in\n"


@pytest.mark.parametrize("accept_new", [False, True])
def test_a_changed_host_key_is_never_accepted(
    make: Make, server: Server, tmp_path: Path, accept_new: bool
) -> None:
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
    key = " ".join(other.with_suffix(".pub").read_text().split()[:2])
    known = tmp_path / "known"
    known.write_text(f"[127.0.0.1]:{server.port} {key}\n")
    problem = problem_of(make(known_hosts=str(known), accept_new=accept_new), server.host())
    assert problem.kind == "host-key-changed"
    assert known.read_text().count("\n") == 1


def test_a_key_that_sshd_does_not_take(make: Make, server: Server, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
    assert problem_of(make(), server.host(keys=(str(other),))).kind == "auth"


def test_a_host_that_does_not_answer(make: Make, server: Server) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        problem = problem_of(make(connect_limit=1.0), server.host(port=silent.getsockname()[1]))
    assert problem.kind == "timeout", problem


def test_a_job_is_done(make: Make, server: Server, sockets: Path) -> None:
    reach = reach_of(server, sockets)
    transport = make()

    async def main() -> tuple[str, int]:
        from msgspec.structs import replace

        work = Work(
            task={"jid": f"20260101T000000.{id(make) % 10**6:06d}-aaaaaa", "function": "test.ping"}
            | {"command": "call", "overrides": {"id": "web1"}}
        )
        drive = Drive(server.host(), work, replace(reach, transport=transport), lambda _kind, _head: None)
        try:
            done = await asyncio.wait_for(drive.run(), LIMIT)
        finally:
            await transport.close()
        return done.status, done.code

    assert asyncio.run(main()) == ("returned", 0)


def test_hosts_of_a_configuration_of_ssh_are_reached_by_it(
    make: Make, server: Server, tmp_path: Path
) -> None:
    (tmp_path / "more").write_text(f"Host inner\n  HostName 127.0.0.1\n  Port {server.port}\n")
    (tmp_path / "config").write_text(
        f"IdentitiesOnly yes\nInclude {tmp_path}/more\nHost jumped\n  HostName 127.0.0.1\n"
        f"  Port {server.port}\n  ProxyJump inner\nMatch all\n  IdentityFile {server.key}\n"
        f"  UserKnownHostsFile {server.known_hosts}\n"
    )
    hosts = read_roster([str(tmp_path / "config")]).hosts
    assert list(hosts) == ["inner", "jumped"]
    for host in hosts.values():
        out, found = ended(make(), host, "printf hello")
        assert (out, found.code) == (b"hello", 0), (host.id, found)


def idle_login(server: Server) -> socket.socket:
    """A connection that sshd talks to and that never logs in."""
    while True:
        line = socket.create_connection(("127.0.0.1", server.port))
        if line.recv(100).startswith(b"SSH-"):
            return line
        line.close()


def wide(make: Make, server: Server, sockets: Path) -> Reach:
    """Ten connections at once."""
    transport = make(known_hosts=str(server.known_hosts))
    return Reach(transport, no_secrets, Limits(10), Bundles(str(sockets / "bundles")))


class TestMaxStartups:
    """An sshd that has room for one login at a time."""

    def test_all_are_let_in_one_after_the_other(self, make: Make, tmp_path: Path, sockets: Path) -> None:
        server = Server(tmp_path / "narrow", lines=("MaxStartups 1",)).start()
        try:
            ids = [f"h{number}" for number in range(6)]
            apart = {id_: (f"SetEnv=APART={id_}", "IdentitiesOnly=yes", "IdentityAgent=none") for id_ in ids}
            hosts = [server.host(id_, settings=apart[id_]) for id_ in ids]  # no connection is shared
            said = run_raw(hosts, "echo in", wide(make, server, sockets))
            log = (tmp_path / "narrow" / "log").read_text()
        finally:
            server.stop()
        assert {id_: one.out for id_, one in said.items()} == dict.fromkeys(ids, "in\n"), said
        assert "MaxStartups" in log or "drop connection" in log

    def test_one_that_never_has_room_is_named_with_what_to_do(
        self, make: Make, tmp_path: Path, sockets: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(patience, "PAUSES", (0.01, 0.01))
        server = Server(tmp_path / "full", lines=("MaxStartups 1",)).start()
        try:
            with idle_login(server):
                said = run_raw([server.host("a")], "echo in", wide(make, server, sockets))["a"]
        finally:
            server.stop()
        assert said.problem is not None
        assert (said.problem.kind, said.problem.diagnostic().code) == ("busy", "ssh-busy")
        assert "MaxStartups" in str(said.problem.diagnostic())
