"""Hosts in trouble, for real: an sshd with mounts and accounts of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.ssh.conftest import ssh_for
from tests.fleet.ssh.server import Server
from tests.fleet.ssh.test_raw import reach_of
from tests.fleet.ssh.test_session import introduced, refused

from saltern.fleet.ssh.drive import Done, Drive, Reach, Work
from saltern.fleet.ssh.raw import run_raw
from saltern.fleet.ssh.roster.host import Host, Password
from saltern.fleet.ssh.transport.openssh import OpenSsh, SshOptions

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: mounts and accounts in a namespace")
SYSTEM_PYTHON = "/usr/bin/python3"
DOWN = "System is going down. Unprivileged users are not permitted to log in anymore."
WORD = "corr3ct-horse"
ACCOUNTS = """
plain:x:64123:64123::{directory}/homes/plain:/bin/sh
noshell:x:64124:64124::/nonexistent:/usr/sbin/nologin
"""
MOUNTS = """
mount --make-rprivate /
mount --bind {directory}/etc /etc
mount -t tmpfs -o size=1m tmpfs {directory}/full
mount -t tmpfs -o size=64m,nr_inodes=100 tmpfs {directory}/small
mount -t tmpfs -o noexec tmpfs {directory}/noexec
mount -t tmpfs tmpfs {directory}/homes
mkdir {directory}/homes/plain
chown 64123 {directory}/homes/plain
mount -o remount,ro {directory}/homes
mount -t tmpfs -o mode=1777 tmpfs /var/tmp
"""


def own_etc(directory: Path) -> Path:
    """A copy of /etc. To mount single files over those there is not enough: a mount ends, in every namespace,
    when another process puts a new file in the place of the old one, as ``useradd`` does.
    """
    subprocess.run(["cp", "-a", "/etc", str(directory)], stderr=subprocess.DEVNULL, check=False)
    return directory / "etc"


def private(directory: Path, more: str = "", lines: tuple[str, ...] = ()) -> Server:
    """An sshd with two more accounts, whose password is WORD, and with disks of every bad kind."""
    directory.chmod(0o755)  # accounts there read the keys that let them in
    for name in ("full", "small", "noexec", "homes"):
        (directory / name).mkdir()
    crypted = subprocess.run(
        ["openssl", "passwd", "-6", WORD], capture_output=True, text=True, check=True
    ).stdout.strip()
    etc = own_etc(directory)
    with open(etc / "passwd", "a") as passwd:
        passwd.write(ACCOUNTS.format(directory=directory))
    users = ("root", "plain", "noshell")
    (etc / "shadow").write_text("".join(f"{user}:{crypted}:19000:0:99999:7:::\n" for user in users))
    return Server(directory, lines, before=MOUNTS.format(directory=directory) + more).start()


@pytest.fixture(scope="module")
def troubled() -> Iterator[Server]:
    if shutil.which("unshare") is None or shutil.which("openssl") is None:
        pytest.skip("needs unshare and openssl")
    with tempfile.TemporaryDirectory(prefix="sshd") as path:
        server = private(Path(path), lines=("PasswordAuthentication yes",))
        yield server
        server.stop()


def done_on(host: Host, reach: Reach) -> Done:
    import asyncio

    work = Work(task={"jid": "20260101T000000.000000-aaaaaa", "function": "test.ping", "command": "call"})
    return asyncio.run(Drive(host, work, reach, lambda _kind, _head: None).run())


class TestAccounts:
    def test_without_a_shell(self, troubled: Server, sockets: Path) -> None:
        problem = refused(troubled.host(user="noshell", directory=""), ssh_for(troubled, sockets))
        assert problem.kind == "no-login", (troubled.directory / "log").read_text() + problem.said
        assert "not available" in str(problem)

    def test_on_a_machine_that_goes_down(self, sockets: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="sshd") as path:
            directory = Path(path)
            (directory / "run" / "sshd").mkdir(parents=True)
            (directory / "run" / "nologin").write_text(f"{DOWN}\n")
            server = private(directory, f"mount --bind {path}/run /run\n", ("UsePAM yes",))
            try:
                problem = refused(server.host(user="plain", directory=""), ssh_for(server, sockets))
            finally:
                server.stop()
        assert problem.kind == "going-down"


class TestDisks:
    def test_a_full_one(self, troubled: Server, sockets: Path) -> None:
        host = troubled.host(directory=f"{troubled.directory}/full/base")
        problem = refused(host, ssh_for(troubled, sockets))
        assert problem.kind == "no-space"
        assert "less than 16 MB are free" in str(problem)

    def test_one_that_becomes_full_while_the_bundle_arrives(self, troubled: Server, sockets: Path) -> None:
        host = troubled.host(directory=f"{troubled.directory}/small/base")
        done = done_on(host, reach_of(troubled, sockets))
        assert (done.status, done.problem) == ("failed", "no-space")
        left = run_raw([host], f"ls {host.directory}/bundles", reach_of(troubled, sockets))["web1"]
        assert left.out == ""  # what did not fit is removed

    def test_one_without_execution(self, troubled: Server, sockets: Path) -> None:
        host = troubled.host(directory=f"{troubled.directory}/noexec/base")
        problem = refused(host, ssh_for(troubled, sockets))
        assert problem.kind == "no-directory"
        assert "noexec" in str(problem)

    def test_a_home_that_is_read_only_is_passed_over(self, troubled: Server, sockets: Path) -> None:
        host = troubled.host(user="plain", directory="", python=SYSTEM_PYTHON)
        found = introduced(host, ssh_for(troubled, sockets))
        assert (found.uid, found.base) == (64123, "/var/tmp/saltern-ssh-64123")

    def test_a_directory_that_is_read_only(self, troubled: Server, sockets: Path) -> None:
        home = f"{troubled.directory}/homes/plain/base"
        problem = refused(troubled.host(directory=home), ssh_for(troubled, sockets))
        assert problem.kind == "no-directory"
        assert "Read-only" in str(problem)


def asking(server: Server, sockets: Path, word: str) -> OpenSsh:
    async def secrets(_host: Host, _what: str) -> str:
        return word

    options = SshOptions(
        config="/dev/null", known_hosts=str(server.known_hosts), directory=str(sockets), keep=1
    )
    return OpenSsh(options, secrets)


def with_password(server: Server) -> Host:
    settings = ("PubkeyAuthentication=no", "IdentityAgent=none")
    return server.host(
        user="plain",
        keys=(),
        settings=settings,
        password=Password(ask=True),
        directory="",
        python=SYSTEM_PYTHON,
    )


class Watch:
    """Looks at every process of this machine, again and again, for a word it must not find."""

    def __init__(self, word: str) -> None:
        self.found: set[str] = set()
        self.programs: set[str] = set()
        self._word = word.encode()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._ended.is_set():
            for process in Path("/proc").glob("[0-9]*"):
                self._look_at(process)

    def _look_at(self, process: Path) -> None:
        for name in ("cmdline", "environ"):
            try:
                data = (process / name).read_bytes()
            except OSError:
                continue
            if self._word in data:
                self.found.add(f"{process}/{name}")
            if name == "cmdline":
                self.programs.add(os.path.basename(data.split(b"\0")[0].decode("utf-8", "replace")))

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


class TestPasswords:
    def test_lets_us_in_and_is_seen_nowhere(self, troubled: Server, sockets: Path) -> None:
        with Watch(WORD) as watch:
            found = introduced(with_password(troubled), asking(troubled, sockets, WORD))
        assert found.uid == 64123
        assert "ssh" in watch.programs
        assert not watch.found
        files = [path for path in (*sockets.rglob("*"), *troubled.directory.glob("*")) if path.is_file()]
        assert not [path for path in files if WORD.encode() in path.read_bytes()]

    def test_a_wrong_one(self, troubled: Server, sockets: Path) -> None:
        problem = refused(with_password(troubled), asking(troubled, sockets, "wrong"))
        assert problem.kind == "auth"

    @pytest.mark.parametrize(("word", "kind"), [(WORD, ""), ("wrong", "become")])
    def test_of_root_for_su(self, troubled: Server, sockets: Path, word: str, kind: str) -> None:
        import asyncio

        from saltern.fleet.ssh.problems import Unreached
        from saltern.fleet.ssh.session import open_session

        async def secrets(_host: Host, _what: str) -> str:
            return word

        async def main() -> int:
            session = await open_session(host, ssh_for(troubled, sockets), secrets)
            await session.close()
            return session.introduction.uid

        host = troubled.host(
            user="plain",
            become="su",
            become_password=Password(ask=True),
            directory=f"{troubled.directory}/rooted",
            python=SYSTEM_PYTHON,
        )
        if not kind:
            assert asyncio.run(main()) == 0
            return
        with pytest.raises(Unreached) as caught:
            asyncio.run(main())
        assert caught.value.kind == kind
