"""An agent on a host with one command, started by a real init, and back again. Real processes."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.ssh.init_hosts import ScriptHost, SystemdHost
from tests.fleet.ssh.server import Server
from tests.fleet.ssh.test_fleet import Place

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: mounts in a namespace")
IN_THE_WAY = "/run/saltern/agent.sock"  # a directory, where the agent wants a socket
LEFT = (
    "/etc/init.d/saltern-agent /etc/systemd/system/saltern-agent.service /run/saltern-agent.pid"
    " /run/saltern/agent.sock /var/lib/saltern/agent/keys/membership.json"
)
HOSTS = {"systemd": SystemdHost, "script": ScriptHost}


class Field:
    """A controller, whose roster has one host for each kind of init."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.hosts: dict[str, Server] = {name: make(directory / name) for name, make in HOSTS.items()}
        known = directory / "known_hosts"
        known.write_text("".join(host.known_hosts.read_text() for host in self.hosts.values()))
        first = next(iter(self.hosts.values()))
        first.known_hosts.write_text(known.read_text())
        self.place = Place(directory / "c", first)

    def entry(self, name: str) -> dict[str, object]:
        host = self.hosts[name]
        thin = str(host.directory / "base")
        return self.place.entry(name, port=host.port, priv=str(host.key), thin_dir=thin)

    def start(self) -> None:
        for host in self.hosts.values():
            host.start()
        (self.directory / "c").mkdir()
        self.place.start((), **{name: self.entry(name) for name in self.hosts})

    def stop(self) -> None:
        self.place.fleet.stop()
        for host in self.hosts.values():
            host.stop()

    def roster(self) -> tuple[str, ...]:
        known = str(self.directory / "known_hosts")
        return "--roster", str(self.place.roster), "--known-hosts", known

    def on_host(self, name: str, command: str) -> str:
        """What a command says there, with whatever went wrong."""
        words = ("ssh", "raw", "--on", name, *self.roster(), command)
        done = self.place.run_alone(*words)
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def field() -> Iterator[Field]:
    directory = Path(tempfile.mkdtemp(prefix="sd-")).resolve()  # short: it holds sockets
    field = Field(directory)
    try:
        field.start()
        yield field
    finally:
        field.stop()
        shutil.rmtree(directory, ignore_errors=True)


def test_there_and_back_and_again(field: Field) -> None:
    place, names = field.place, sorted(HOSTS)
    done = place.run("agent", "deploy", "--on", "*")
    assert done.returncode == 0, done
    assert all(place.system(name)["online"] for name in names)  # when the command has ended, not later
    assert all(place.system(name)["kind"] == "agent" for name in names)
    done = place.run("call", "test.ping", "--on", "*", "--wait", "0", "--out", "json")
    assert json.loads(done.stdout) == dict.fromkeys(names, True)
    done = place.run("agent", "deploy", "--on", "*")
    assert "already have an agent: script, systemd" in done.stderr

    done = place.run("agent", "deploy", "--remove", "--on", "*", *field.roster())
    assert done.returncode == 0, done
    assert done.stdout.count("is an SSH system again") == 2
    left = field.on_host("*", f"for file in {LEFT}; do test -e $file && echo left: $file; done")
    assert "left: " not in left
    place.until(lambda: all(place.system(name)["kind"] == "ssh" for name in names))

    field.on_host("*", f"mkdir -p {IN_THE_WAY}")
    done = place.run("agent", "deploy", "--on", "*", "--wait", "2", *field.roster())
    assert done.returncode == 2, done
    for name in names:
        (line,) = [line for line in done.stderr.splitlines() if line.startswith(f"{name}: ")]
        assert "the agent was started and is not at work" in line
        assert "agent.sock" in line, line
        assert ("systemd: Result=" in line) == (name == "systemd")
    field.on_host("*", f"rmdir {IN_THE_WAY}")
    done = place.run("agent", "deploy", "--on", "script", *field.roster())
    assert (done.returncode, done.stdout.count("script: has an agent now")) == (0, 1), done
    assert place.system("script")["online"]
    place.until(lambda: place.system("systemd")["online"])  # systemd has started it again by itself
