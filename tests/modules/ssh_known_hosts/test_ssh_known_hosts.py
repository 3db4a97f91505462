"""``ssh_known_hosts``: against a real sshd where there is one, else against what ``ssh-keyscan`` prints."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from saltern.language.result import Outcome
from saltern.modules.functions import ssh as functions
from saltern.modules.states.ssh_known_hosts import absent, present
from saltern.system.host import LocalHost
from saltern.system.process import Ran

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="needs ssh-keygen")
ME = pwd.getpwuid(os.geteuid()).pw_name
SSHD = os.environ.get("SALTERN_TEST_SSHD") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")


def new_key(place: Path, name: str) -> str:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)], check=True)
    return " ".join((place / f"{name}.pub").read_text().split()[:2])


@pytest.fixture
def key(tmp_path: Path) -> str:
    return new_key(tmp_path, "host")


def knows(path: str, host: str) -> bool:
    return not subprocess.run(["ssh-keygen", "-F", host, "-f", path], capture_output=True).returncode


def fingerprint(key: str, tmp_path: Path) -> str:
    (tmp_path / "k.pub").write_text(key)
    told = subprocess.run(["ssh-keygen", "-lf", str(tmp_path / "k.pub")], capture_output=True, text=True)
    return told.stdout.split()[1]


class Keyscan(LocalHost):
    """A host where ``ssh-keyscan`` prints what we say."""

    def __init__(self, out: str) -> None:
        self.out = out
        self.asked: list[list[str]] = []

    def run(self, command: object, **_: object) -> Ran:
        assert isinstance(command, list)
        self.asked.append(command)
        return Ran(0 if self.out else 1, self.out, "" if self.out else "no answer", 1)


def test_a_given_key_is_written_hashed_and_found_by_ssh(desk: Desk, key: str) -> None:
    args = {"key": key, "user": ME, "config": desk.at("d/known")}
    result = desk.change(present, "git.example.org", **args)
    blob = key.split()[1]
    assert result.changes["old"] is None
    new = result.changes["new"]
    assert isinstance(new, list)
    assert (new[0]["hostname"], new[0]["enc"], new[0]["key"]) == ("git.example.org", "ssh-ed25519", blob)
    assert "git.example.org" not in desk.text("d/known")
    assert knows(desk.at("d/known"), "git.example.org")
    assert desk.mode("d/known") == 0o600


def test_a_port_and_a_plain_name(desk: Desk, key: str) -> None:
    path = desk.at("known")
    desk.change(present, "h", key=key, port=2222, config=path, hash_known_hosts=False)
    assert desk.text("known") == f"[h]:2222 {key}\n"
    assert knows(path, "[h]:2222")
    assert desk.mode("known") == 0o644
    desk.change(present, "h", key=key, config=path)
    desk.change(absent, "h", config=path)
    assert desk.text("known") == f"[h]:2222 {key}\n"


def test_another_key_replaces_the_old_one_and_no_other_host(desk: Desk, key: str, tmp_path: Path) -> None:
    other = new_key(tmp_path, "other")
    path = desk.put("known", f"# mine\nh,10.0.0.1 {other}\nx {other}\n")
    result = desk.change(present, "h", key=key, config=path)
    assert isinstance(result.changes["old"], list)
    assert desk.text("known").startswith(f"# mine\n10.0.0.1 {other}\nx {other}\n|1|")


def test_hashed_names_of_ssh_keygen_are_read(desk: Desk, key: str) -> None:
    path = desk.put("known", f"secret.host {key}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", path], check=True, capture_output=True)
    desk.same(present, "secret.host", key=key, config=path)
    result = desk.change(absent, "secret.host", config=path)
    assert result.changes["new"] is None
    assert desk.text("known") == ""


def test_the_host_is_asked_and_its_fingerprint_checked(desk: Desk, key: str, tmp_path: Path) -> None:
    """Recorded-style output of ``ssh-keyscan``."""
    scan = desk.run.host = Keyscan(f"# h:22 SSH-2.0\nh {key}\n")
    path = desk.at("known")
    assert "the connection may be intercepted" in desk.refusal(
        present, "h", fingerprint="SHA256:" + "A" * 43, config=path
    )
    desk.change(present, "h", fingerprint=fingerprint(key, tmp_path), config=path, enc="ed25519")
    asked = len(scan.asked)
    desk.same(present, "h", fingerprint=fingerprint(key, tmp_path), config=path)
    desk.same(present, "h", config=path)
    assert len(scan.asked) == asked
    assert scan.asked[-1] == ["ssh-keyscan", "-T", "5", "-p", "22", "-t", "ed25519", "--", "h"]


def test_bad_input_is_reported_plainly(desk: Desk, key: str) -> None:
    desk.run.host = Keyscan("")
    path = desk.at("known")
    assert "not the name of a host" in desk.refusal(present, "-oProxyCommand=x", config=path)
    assert "not the name of a host" in desk.refusal(present, "a b", key=key, config=path)
    assert "unable to receive" in desk.refusal(present, "h", config=path)
    assert "not a public key" in desk.refusal(present, "h", key="x", config=path)
    assert "belong together" in desk.refusal(present, "h", key=key, fingerprint="aa:bb", config=path)
    assert "absolute path" in desk.refusal(present, "h", key=key, config="known")
    assert "not available" in desk.refusal(present, "h", key=key, user="saltern-t-none")
    assert desk.foresee(present, "h", key=key, user="saltern-t-none").outcome is Outcome.WOULD_CHANGE
    desk.same(absent, "h", user="saltern-t-none")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """An sshd of our own on a high port of the loopback interface."""
    if not SSHD or not shutil.which("ssh-keyscan"):
        pytest.skip("needs sshd and ssh-keyscan; SALTERN_TEST_SSHD may name one")
    key = new_key(tmp_path, "sshd")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = tmp_path / "sshd_config"
    config.write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path / 'sshd'}\nPidFile none\nUsePAM no\n"
    )
    running = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(50):
            with socket.socket() as knock:
                if not knock.connect_ex(("127.0.0.1", port)):
                    break
            if running.poll() is not None:
                pytest.skip("this sshd does not start here")
            time.sleep(0.05)
        yield port, key
    finally:
        running.terminate()
        running.wait()


def test_a_real_host_is_asked(desk: Desk, server: tuple[int, str], tmp_path: Path) -> None:
    port, key = server
    path = desk.at("known")
    wanted = fingerprint(key, tmp_path)
    desk.change(present, "127.0.0.1", port=port, config=path, fingerprint=wanted)
    assert knows(path, f"[127.0.0.1]:{port}")
    found = functions.recv_known_host_entries(desk.context(), "127.0.0.1", port=port)
    assert found
    assert found[0]["key"] == key.split()[1]


def test_functions_tell_of_known_hosts(desk: Desk, key: str) -> None:
    ctx, path = desk.context(), desk.put("known", f"h {key}\n")
    found = functions.get_known_host_entries(ctx, None, "h", path)
    assert found
    assert found[0]["enc"] == "ssh-ed25519"
    assert functions.check_known_host(ctx, hostname="h", key=key, config=path) == "exists"
    assert functions.check_known_host(ctx, hostname="n", key=key, config=path) == "add"
    assert functions.check_known_host(ctx, hostname="h", fingerprint="aa", config=path) == "update"
    assert functions.rm_known_host(ctx, hostname="h", config=path)["status"] == "removed"
