"""Sessions with real hosts: what they say of themselves, and each way in which they cannot be had."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
import threading
from pathlib import Path

import pytest
from tests.fleet.ssh.conftest import no_secrets, ssh_for
from tests.fleet.ssh.server import Server, free_port
from tools.pythons import find

from saltern.fleet.ssh.problems import Unreached
from saltern.fleet.ssh.remote.command import command
from saltern.fleet.ssh.roster.host import Become, Host
from saltern.fleet.ssh.session import Introduction, open_session
from saltern.fleet.ssh.transport.local import LocalShell
from saltern.fleet.ssh.transport.ports import Channel, Transport
from saltern.fleet.ssh.transport.process import start


def introduced(host: Host, transport: Transport) -> Introduction:
    async def main() -> Introduction:
        session = await open_session(host, transport, no_secrets)
        await session.close()
        return session.introduction

    return asyncio.run(main())


def refused(host: Host, transport: Transport) -> Unreached:
    with pytest.raises(Unreached) as caught:
        introduced(host, transport)
    return caught.value


def test_a_host_introduces_itself(server: Server, sockets: Path) -> None:
    found = introduced(server.host(), ssh_for(server, sockets))
    assert found.python >= (3, 11, 0)
    assert found.uid == os.getuid()
    assert found.base == str(server.directory / "base")
    assert os.stat(found.base).st_mode & 0o777 == 0o700


def test_this_machine_without_ssh(tmp_path: Path) -> None:
    host = Host(id="here", address="", directory=str(tmp_path / "base"), python=sys.executable)
    assert introduced(host, LocalShell()).executable == sys.executable


@pytest.mark.parametrize("shell", ["sh", "dash", "bash", "zsh", "fish", "csh", "tcsh", "ksh"])
def test_any_shell_of_a_login(tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} on this machine")
    host = Host(id="here", address="", directory=str(tmp_path / "a b$c"), python=sys.executable)

    class Login(LocalShell):
        async def open(self, _host: Host, command: str) -> Channel:
            return await start([shell, "-c", command], {**os.environ, "HOME": str(tmp_path)})

    assert introduced(host, Login()).base == host.directory


@pytest.mark.parametrize("become", ["", "sudo", "doas", "su"])
@pytest.mark.parametrize("terminal", [False, True])
def test_the_command_is_one_line_for_csh(become: Become, terminal: bool) -> None:
    """csh is installed on few machines that run tests, and takes no end of a line between apostrophes."""
    text = command(Host(id="a", address="a", become=become, terminal=terminal, directory="~/x"))
    assert "\n" not in text
    assert "!" not in text


def test_what_shells_print_before_is_skipped(tmp_path: Path) -> None:
    host = Host(id="here", address="", directory=str(tmp_path / "base"), python=sys.executable)

    class Noisy(LocalShell):
        async def open(self, host: Host, command: str) -> Channel:
            return await super().open(host, f"echo Welcome; echo careful >&2\n{command}")

    assert introduced(host, Noisy()).uid == os.getuid()


class TestProblems:
    def test_a_wrong_key(self, server: Server, sockets: Path, tmp_path: Path) -> None:
        other = Server(tmp_path / "other")
        assert refused(server.host(keys=(str(other.key),)), ssh_for(server, sockets)).kind == "auth"

    def test_a_host_key_that_changed(self, server: Server, sockets: Path, tmp_path: Path) -> None:
        other = Server(tmp_path / "other")
        known = tmp_path / "known"
        key = " ".join((other.directory / "host.pub").read_text().split()[:2])
        known.write_text(f"[127.0.0.1]:{server.port} {key}\n")
        problem = refused(server.host(), ssh_for(server, sockets, known_hosts=str(known)))
        assert problem.kind == "host-key-changed"
        assert "ssh-keygen -R" in problem.diagnostic().fix

    def test_a_host_key_that_is_not_known(self, server: Server, sockets: Path, tmp_path: Path) -> None:
        empty = str(tmp_path / "none")
        assert refused(server.host(), ssh_for(server, sockets, known_hosts=empty)).kind == "host-key-unknown"
        taken = ssh_for(server, sockets, known_hosts=empty, accept_new=True)
        assert introduced(server.host(), taken).uid == os.getuid()

    def test_nothing_listens(self, server: Server, sockets: Path) -> None:
        assert refused(server.host(port=free_port()), ssh_for(server, sockets)).kind == "refused"

    def test_a_name_that_does_not_exist(self, server: Server, sockets: Path) -> None:
        host = server.host(address="no-such-host.invalid")
        assert refused(host, ssh_for(server, sockets)).kind == "unreachable"

    def test_a_host_that_hangs(self, server: Server, sockets: Path) -> None:
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            host = server.host(port=silent.getsockname()[1])
            assert refused(host, ssh_for(server, sockets, connect_limit=1.0)).kind == "timeout"

    def test_a_host_that_answers_garbage(self, server: Server, sockets: Path) -> None:
        with socket.socket() as odd:
            odd.bind(("127.0.0.1", 0))
            odd.listen()

            def answer() -> None:
                client, _ = odd.accept()
                client.sendall(b"HTTP/1.1 400 Bad Request\r\n" * 2000)
                client.close()

            threading.Thread(target=answer, daemon=True).start()
            problem = refused(server.host(port=odd.getsockname()[1]), ssh_for(server, sockets))
        assert problem.kind in ("garbage", "cut")

    def test_no_interpreter(self, server: Server, sockets: Path) -> None:
        problem = refused(server.host(python="/nosuch/python3"), ssh_for(server, sockets))
        assert problem.kind == "no-interpreter"
        assert "install one there" in problem.diagnostic().fix

    @pytest.mark.parametrize("version", ["2.7", "3.6", "3.10"])
    def test_an_interpreter_that_is_too_old(self, server: Server, sockets: Path, version: str) -> None:
        old = find(version)
        if old is None:
            pytest.skip(f"there is no Python {version} on this machine")
        problem = refused(server.host(python=old), ssh_for(server, sockets))
        assert problem.kind == "no-interpreter"
        assert f"is Python {version}." in str(problem)

    @pytest.mark.parametrize(
        "odd", ["sys.implementation.name = 'pypy'", "sys.abiflags = 't'"], ids=["PyPy", "free-threaded"]
    )
    def test_an_interpreter_that_cannot_load_our_libraries(self, tmp_path: Path, odd: str) -> None:
        program = tmp_path / "python3"
        program.write_text(
            f"#!{sys.executable}\nimport sys\n{odd}\n"
            "if '--version' in sys.argv: sys.exit(print('Odd 3.11'))\nexec(sys.argv[3])\n"
        )
        program.chmod(0o755)
        problem = refused(Host(id="h", address="", python=str(program)), LocalShell())
        assert problem.kind == "no-interpreter"
        assert "is Odd 3.11" in str(problem)

    def test_no_directory(self, server: Server, sockets: Path) -> None:
        problem = refused(server.host(directory="/proc/saltern"), ssh_for(server, sockets))
        assert problem.kind == "no-directory"
        assert "/proc/saltern" in problem.said

    def test_other_rights_are_not_given(self, tmp_path: Path) -> None:
        host = Host(
            id="h", address="", become="sudo", become_user="no-such-user-here", directory=str(tmp_path / "b")
        )
        assert refused(host, LocalShell()).kind == "become"

    def test_a_shell_that_ends_with_nothing(self, server: Server, sockets: Path, tmp_path: Path) -> None:
        program = tmp_path / "python3"
        program.write_text("#!/bin/sh\nexit 0\n")
        program.chmod(0o755)
        assert refused(server.host(python=str(program)), ssh_for(server, sockets)).kind == "garbage"

    def test_no_ssh_here(self, server: Server, sockets: Path) -> None:
        assert refused(server.host(), ssh_for(server, sockets, program="/nosuch/ssh")).kind == "no-ssh"
