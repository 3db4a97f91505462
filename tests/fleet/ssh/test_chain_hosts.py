"""42 and 43: hosts on which a leg cannot be done, each for its own reason, in one run with some that can.

What happens to them is nothing to the others, and each says why nothing was begun there.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.ssh.server import Server
from tests.fleet.ssh.test_fleet import Place

CHAIN = "chain: reach\nactions:\n  - {id: A1, command: 'echo A1 >> LOG'}\n  - {id: A2, command: 'true'}\n"
SUDO = "#!/bin/sh\necho 'root is not in the sudoers file.' >&2\nexit 1\n"
DOWN = "ForceCommand echo 'System is going down. Users are not permitted to log in.' >&2; exit 1"
EXPIRED = "ForceCommand echo 'Your account has expired; please contact your system administrator' >&2; exit 1"
DISK = "mkdir -p {0}/disk && mount -t tmpfs -o OPTION none {0}/disk"
FULL, NOEXEC = DISK.replace("OPTION", "size=64k"), DISK.replace("OPTION", "noexec")
NEVER = {  # host → what its leg must say; nothing was begun there
    "changed": "host key is not the one that is known",
    "key": "refuses the login",
    "python": "no Python",
    "sudo": "does not allow the change of user",
    "account": "allows no commands",
    "full": "full",
    "noexec": "without execution",
}


class Hosts:
    """A controller with one good host, and one host for each reason."""

    def __init__(self, directory: Path, good: Server, stack: ExitStack) -> None:
        self.directory = directory
        self.place = Place(directory, good)
        self._stack = stack

    def server(self, name: str, *lines: str, before: str = "") -> Server:
        folder = self.directory / name
        server = Server(folder, lines, before.format(folder))
        server.start()
        self._stack.callback(server.stop)
        return server

    def entry(self, name: str, server: Server, **more: object) -> dict[str, object]:
        known = f"UserKnownHostsFile={server.known_hosts}"
        options = ["IdentitiesOnly=yes", "IdentityAgent=none", known]
        own: dict[str, object] = {
            "port": server.port,
            "priv": str(server.key),
            "ssh_options": options,
            "thin_dir": f"{server.directory}/base",
        }
        return self.place.entry(name, **{**own, **more})

    def on_disk(self, name: str, disk: str) -> dict[str, object]:
        return self.entry(name, self.server(name, before=disk), thin_dir=f"{self.directory / name}/disk")

    def entries(self) -> dict[str, dict[str, object]]:
        changed = self.server("changed")
        changed.known_hosts.write_text(
            f"[127.0.0.1]:{changed.port} {' '.join((changed.directory / 'id.pub').read_text().split()[:2])}\n"
        )
        programs = self.directory / "bin"
        programs.mkdir()
        (programs / "sudo").write_text(SUDO)
        (programs / "sudo").chmod(0o755)
        sudo = self.server("sudo", f"SetEnv PATH={programs}:/usr/bin:/bin")
        other = self.directory / "other"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
        return {
            "changed": self.entry("changed", changed),
            "key": self.place.entry("key", priv=str(other)),
            "python": self.place.entry("python", python="/no/such/python"),
            "sudo": self.entry("sudo", sudo, sudo=True),
            "account": self.entry("account", self.server("account", EXPIRED)),
            "full": self.on_disk("full", FULL),
            "noexec": self.on_disk("noexec", NOEXEC),
            "down": self.entry("down", self.server("down", DOWN)),
        }


@pytest.fixture(scope="module")
def hosts(server: Server) -> Iterator[Hosts]:
    if os.geteuid():
        pytest.skip("the sshd of the tests lets its own user in, which the roster calls root")
    directory = Path(tempfile.mkdtemp(prefix="sh")).resolve()  # short: it holds sockets
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        here = Hosts(directory, server, stack)
        stack.callback(here.place.fleet.stop)
        here.place.start(agents=(), s1=here.place.entry("s1"))
        yield here


def listener(stack: ExitStack) -> int:
    """A port that takes connections, and never says a word."""
    mute = stack.enter_context(socket.socket())
    mute.bind(("127.0.0.1", 0))
    mute.listen(50)
    port: int = mute.getsockname()[1]
    return port


def begin(hosts: Hosts, target: str, *words: str) -> tuple[str, Path]:
    log = hosts.directory / "log"
    log.unlink(missing_ok=True)
    (hosts.directory / "reach.yaml").write_text(CHAIN.replace("LOG", str(log)))
    done = hosts.place.run("chain", "run", "reach.yaml", "--on", target, "--detach", *words)
    assert done.returncode == 0, done
    return done.stdout.strip(), log


def legs_of(hosts: Hosts, run: str) -> dict[str, dict[str, Any]]:
    with hosts.place.fleet.client() as client:
        return {leg["system"]: leg for leg in client.chain_runs.legs(run)}


def test_42_each_host_says_why_nothing_was_begun_there_and_the_others_do_their_legs(hosts: Hosts) -> None:
    place = hosts.place
    place.write_roster(s1=place.entry("s1"), **hosts.entries())
    place.until(lambda: place.system("down")["kind"] == "ssh")
    run, log = begin(hosts, "*", "--leg-time", "600")
    over = ("succeeded", "failed", "indeterminate", "expired")
    place.until(
        lambda: all(leg["status"] in over for name, leg in legs_of(hosts, run).items() if name != "down")
    )
    found = legs_of(hosts, run)
    assert found["s1"]["status"] == "succeeded", found["s1"]
    assert log.read_text() == "A1\n"
    for name, reason in NEVER.items():
        assert found[name]["status"] == "failed", (name, found[name])
        assert reason in found[name]["waits_for"], (name, found[name])
        assert {step["status"] for step in found[name]["steps"]} == {"not run"}
    assert found["down"]["status"] not in over, "it may come up again, and gets its leg then"
    shown = place.run("chain", "show", run)
    assert "host key is not the one that is known" in shown.stdout, shown
    json.loads(place.run("chain", "show", run, "--out", "json").stdout)
    place.run("chain", "cancel", run)


def test_43_a_host_that_hangs_is_nothing_to_the_others(hosts: Hosts) -> None:
    place = hosts.place
    with ExitStack() as stack:
        port = listener(stack)
        mute = {f"mute{number}": place.entry("mute", port=port) for number in range(3)}
        place.write_roster(s1=place.entry("s1"), **mute)
        place.until(lambda: place.system("mute2")["kind"] == "ssh")
        run, log = begin(hosts, "*", "--leg-time", "600")
        place.until(lambda: legs_of(hosts, run)["s1"]["status"] == "succeeded")
        found = legs_of(hosts, run)
        assert log.read_text() == "A1\n"
        assert {found[name]["status"] for name in mute} <= {"pending", "queued", "delivered", "running"}
        place.run("chain", "cancel", run)
