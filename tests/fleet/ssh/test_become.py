"""Other rights on a host, and the ways in which they are not given.

sudo and doas are stand-ins that say what the real ones say, behind a real sshd.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.ssh.conftest import no_secrets, ssh_for
from tests.fleet.ssh.server import Server

from saltern.fleet.ssh.problems import PROBLEMS, Unreached
from saltern.fleet.ssh.roster.host import Become, Host, Password
from saltern.fleet.ssh.session import Introduction, open_session
from saltern.fleet.ssh.transport.ports import Secrets

WORD = "s3cret"
# $KIND: "free" asks for nothing, "asks" wants the password, all else is printed as a refusal.
STAND_IN = f"""#!{sys.executable}
import os, sys
kind, name, args = os.environ["KIND"], os.path.basename(sys.argv[0]), sys.argv[1:]
if kind == "asks" and "-n" in args:
    sys.exit({{"sudo": "sudo: a password is required", "doas": "doas: Authentication required"}}[name])
if kind == "asks":
    prompt = args[args.index("-p") + 1] if name == "sudo" else "doas (me@host) password: "
    sys.stderr.write(prompt)
    sys.stderr.flush()
    word = b""
    while not word.endswith(b"\\n"):
        word += os.read(0, 1)
    if word != b"{WORD}\\n":
        sys.exit({{"sudo": "Sorry, try again.\\nsudo: 1 incorrect password attempt",
                   "doas": "doas: Authentication failed"}}[name])
elif kind != "free":
    sys.exit(kind)
rest = args[args.index("--") + 1 :]
os.execvp(rest[0], rest)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    programs = tmp_path_factory.mktemp("bin")
    for name in ("sudo", "doas"):
        (programs / name).write_text(STAND_IN)
        (programs / name).chmod(0o755)
    lines = [f"SetEnv PATH={programs}:/usr/local/bin:/usr/bin:/bin", "AcceptEnv KIND"]
    server = Server(tmp_path_factory.mktemp("sshd"), lines).start()
    yield server
    server.stop()


def become(
    server: Server, sockets: Path, method: Become, kind: str, secrets: Secrets = no_secrets
) -> Introduction:
    host = server.host(become=method, become_password=Password(ask=secrets is not no_secrets))
    settings = (*host.settings, f'SetEnv="KIND={kind}"')
    chosen = server.host(become=method, become_password=host.become_password, settings=settings)

    async def main() -> Introduction:
        session = await open_session(chosen, ssh_for(server, sockets), secrets)
        await session.close()
        return session.introduction

    return asyncio.run(main())


def word(text: str) -> Secrets:
    async def secrets(_host: Host, what: str) -> str:
        assert what == "become"
        return text

    return secrets


METHODS: tuple[Become, ...] = ("sudo", "doas")


@pytest.mark.parametrize("method", METHODS)
class TestGiven:
    def test_without_a_password(self, server: Server, sockets: Path, method: Become) -> None:
        assert become(server, sockets, method, "free").uid == 0

    def test_without_being_asked_for_the_one_that_we_have(
        self, server: Server, sockets: Path, method: Become
    ) -> None:
        """A password that is not asked for must not become input of our program."""
        assert become(server, sockets, method, "free", word(WORD)).uid == 0

    def test_for_the_password(self, server: Server, sockets: Path, method: Become) -> None:
        assert become(server, sockets, method, "asks", word(WORD)).uid == 0


REFUSALS: list[tuple[Become, str, str]] = [
    ("sudo", "asks", "become-password"),
    ("doas", "asks", "become-password"),
    ("sudo", "me is not in the sudoers file.  This incident will be reported.", "become"),
    ("sudo", "me is not in the sudoers file.", "become"),
    ("sudo", "Sorry, user me is not allowed to execute '/bin/sh' as root on host.", "become"),
    ("sudo", "Sorry, user me may not run sudo on host.", "become"),
    ("sudo", "me is not allowed to run sudo on host.  This incident will be reported.", "become"),
    ("sudo", "sudo: unknown user nosuch", "become"),
    ("sudo", "sudo: sorry, you must have a tty to run sudo", "become-password"),
    ("sudo", "sudo: a terminal is required to read the password; use the -S option", "become-password"),
    ("sudo", "sudo: account validation failure, is your account locked?", "become"),
    ("sudo", "sudo: /etc/sudoers is world writable", "become"),
    ("sudo", "sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set", "become"),
    ("sudo", "sudo: effective uid is not 0, is sudo installed setuid root?", "become"),
    (
        "sudo",
        'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.',
        "become",
    ),
    ("doas", "doas: Operation not permitted", "become"),
    ("doas", "doas: not enabled, /etc/doas.conf: No such file or directory", "become"),
    ("doas", "doas: unknown user nosuch", "become"),
    ("doas", "doas: a tty is required", "become-password"),
]


@pytest.mark.parametrize(("method", "said", "kind"), REFUSALS)
def test_not_given(server: Server, sockets: Path, method: Become, said: str, kind: str) -> None:
    with pytest.raises(Unreached) as caught:
        become(server, sockets, method, said.replace('"', "'"))
    assert caught.value.kind == kind
    assert caught.value.diagnostic().fix == PROBLEMS[kind].fix
    if said != "asks":
        assert said[-40:].replace('"', "'") in str(caught.value)


@pytest.mark.parametrize("method", METHODS)
def test_a_wrong_password(server: Server, sockets: Path, method: Become) -> None:
    with pytest.raises(Unreached) as caught:
        become(server, sockets, method, "asks", word("wrong"))
    assert caught.value.kind == "become"
    assert "wrong" not in caught.value.said


class TestJumps:
    def test_through_another_sshd(self, server: Server, sockets: Path, tmp_path: Path) -> None:
        jump = Server(tmp_path / "jump").start()
        try:
            assert through(jump, server, sockets, tmp_path).base == str(server.directory / "base")
        finally:
            jump.stop()

    def test_the_jump_host_is_not_there(self, server: Server, sockets: Path, tmp_path: Path) -> None:
        jump = Server(tmp_path / "jump")
        with pytest.raises(Unreached) as caught:
            through(jump, server, sockets, tmp_path)
        assert caught.value.kind in ("refused", "unreachable")  # which of its two ssh's is heard first

    def test_the_host_behind_it_is_not_there(self, server: Server, sockets: Path, tmp_path: Path) -> None:
        jump, gone = Server(tmp_path / "jump").start(), Server(tmp_path / "gone")
        try:
            with pytest.raises(Unreached) as caught:
                through(jump, gone, sockets, tmp_path)
        finally:
            jump.stop()
        assert caught.value.kind in ("refused", "unreachable")


def through(jump: Server, server: Server, sockets: Path, directory: Path) -> Introduction:
    """The introduction of a host that is reached by a jump host, which the configuration of ssh describes."""
    config = directory / "config"
    config.write_text(
        f"Host bastion\n  HostName 127.0.0.1\n  Port {jump.port}\n  IdentityFile {jump.key}\n"
        f"  UserKnownHostsFile {jump.known_hosts}\n  IdentityAgent none\n"
    )
    transport = ssh_for(server, sockets, config=str(config))

    async def main() -> Introduction:
        session = await open_session(server.host(jump="bastion"), transport, no_secrets)
        await session.close()
        return session.introduction

    return asyncio.run(main())


def test_an_old_interpreter_is_named_in_the_message(server: Server, sockets: Path, tmp_path: Path) -> None:
    old = tmp_path / "python3"
    for code in (84, 2):  # one that reads our program, and one that does not know -I
        old.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2 && exit\nexit {code}\n')
        old.chmod(0o755)
        with pytest.raises(Unreached) as caught:
            asyncio.run(open_session(server.host(python=str(old)), ssh_for(server, sockets), no_secrets))
        assert caught.value.kind == "no-interpreter"
        assert f"{old} is Python 3.9.2" in str(caught.value)
