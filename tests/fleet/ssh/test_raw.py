"""One command on many hosts, over a real sshd."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.ssh.conftest import no_secrets, ssh_for
from tests.fleet.ssh.server import Server, free_port

from saltern.fleet.ssh.bundle.make import Bundles
from saltern.fleet.ssh.drive import Reach
from saltern.fleet.ssh.pool import Limits, on_each
from saltern.fleet.ssh.raw import Said, run_raw
from saltern.fleet.ssh.roster.host import Host, Password
from saltern.fleet.ssh.secrets import Passwords
from saltern.fleet.ssh.transport.ports import Secrets


def reach_of(server: Server, sockets: Path, secrets: Secrets = no_secrets) -> Reach:
    return Reach(ssh_for(server, sockets), secrets, Limits(10), Bundles(str(sockets / "bundles")))


@pytest.fixture
def reach(server: Server, sockets: Path) -> Reach:
    return reach_of(server, sockets)


def test_what_each_said(server: Server, reach: Reach) -> None:
    hosts = [server.host("a"), server.host("b"), server.host("gone", port=free_port())]
    said = run_raw(hosts, "echo out; echo err >&2; exit 3", reach)
    assert said["a"] == said["b"] == Said(3, "out\n", "err\n")
    assert said["gone"].problem is not None
    assert said["gone"].problem.kind == "refused"


def test_a_slow_host_holds_no_other(server: Server, reach: Reach, tmp_path: Path) -> None:
    first = tmp_path / "first"
    said = run_raw(
        [server.host("a"), server.host("b")],
        f"mkdir {first} 2>/dev/null && exec sleep 600; echo quick",  # whoever comes first hangs
        reach,
        limit=4.0,
    )
    slow, quick = sorted(said.values(), key=lambda one: one.problem is None)
    assert slow.problem is not None
    assert slow.problem.kind == "timeout"
    assert quick.out == "quick\n"


def test_words_of_the_command_reach_the_shell_as_they_are(server: Server, reach: Reach) -> None:
    text = "printf '%s|' \"a  b\" 'c$d' `echo e`"
    assert run_raw([server.host()], text, reach)["web1"].out == "a  b|c$d|e|"


def test_so_many_at_once_in_all_and_through_one_jump_host() -> None:
    running: list[str] = []
    most = {"all": 0, "jump": 0}

    async def work(host: Host) -> None:
        running.append(host.jump)
        most["all"] = max(most["all"], len(running))
        most["jump"] = max(most["jump"], running.count("bastion"))
        await asyncio.sleep(0.001)
        running.remove(host.jump)

    hosts = [Host(id=f"h{n}", address="h", jump="bastion" if n % 2 else "") for n in range(40)]
    asyncio.run(on_each(hosts, work, Limits(at_once=8, by_jump=3)))
    assert most == {"all": 8, "jump": 3}


class TestPasswords:
    def test_a_person_is_asked_once_for_each_kind(self) -> None:
        asked: list[str] = []

        def prompt(text: str) -> str:
            asked.append(text)
            return "s3cret"

        async def main() -> set[str]:
            passwords = Passwords(prompt)
            hosts = [Host(id=f"h{n}", address="h", password=Password(ask=True)) for n in range(5)]
            return set(await asyncio.gather(*(passwords.of(host, "login") for host in hosts)))

        assert asyncio.run(main()) == {"s3cret"}
        assert len(asked) == 1

    def test_a_command_prints_it(self) -> None:
        host = Host(id="h", address="h", password=Password(command="echo from-command; echo more"))
        assert asyncio.run(Passwords(lambda _: "").of(host, "login")) == "from-command"


SUDO = f"""#!{sys.executable}
import os, sys
args = sys.argv[1:]
sys.stderr.write(args[args.index("-p") + 1])
sys.stderr.flush()
word = b""
while not word.endswith(b"\\n"):
    word += os.read(0, 1)
if word != b"s3cret\\n":
    sys.exit("sudo: 1 incorrect password attempt")
rest = args[args.index("--") + 1 :]
os.execvp(rest[0], rest)
"""


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A host whose sudo wants a password, as the real one does: asked on standard error, read from input."""
    programs = tmp_path_factory.mktemp("bin")
    (programs / "sudo").write_text(SUDO)
    (programs / "sudo").chmod(0o755)
    path = f"{programs}:/usr/local/bin:/usr/bin:/bin"
    server = Server(tmp_path_factory.mktemp("asking"), [f"SetEnv PATH={path}"]).start()
    yield server
    server.stop()


@pytest.mark.parametrize("word", ["s3cret", "wrong"])
def test_the_password_of_sudo_goes_through_its_input_alone(asking: Server, sockets: Path, word: str) -> None:
    async def secrets(_host: Host, _what: str) -> str:
        return word

    reach = reach_of(asking, sockets, secrets)
    host = asking.host(become="sudo", become_password=Password(ask=True))
    said = run_raw([host], "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '", reach)["web1"]
    if word == "wrong":
        assert said.code
        assert "incorrect password" in said.err
    else:
        assert said.code == 0
        assert "python" in said.out
        assert "s3cret" not in said.out


def test_the_password_of_ssh_is_in_no_process_and_no_file(server: Server, sockets: Path) -> None:
    """ssh asks our program, which reads it from our memory."""
    from saltern.fleet.ssh.transport.secret import lend, path_of

    handle = lend("hush-hush")
    try:
        done = subprocess.run(["cat", path_of(handle)], capture_output=True, text=True, check=True)
        assert done.stdout == "hush-hush\n"
        again = subprocess.run(["cat", path_of(handle)], capture_output=True, text=True, check=True)
        assert again.stdout == "hush-hush\n"
        assert "memfd" in os.readlink(path_of(handle))  # no file has it
    finally:
        os.close(handle)
