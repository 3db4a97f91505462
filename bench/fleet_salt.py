"""A real Salt master and its minions as processes below one directory, for bench/fleet.py and for tests.

Salt is the one of ``make salt``. Its usual transport needs pyzmq, which is used where PYTHONPATH has it; else
its TCP transport is.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.fleet_files import free_port
from bench.fleet_local import SLOW
from bench.fleet_measure import tree, wait_for

SALT = Path(__file__).resolve().parents[1] / "build" / "salt"
MASTER = """\
root_dir: {place}/master
interface: 127.0.0.1
publish_port: {publish}
ret_port: {ret}
transport: {transport}
auto_accept: true
user: root
timeout: 60
file_roots: {{base: [{states}, {place}/case]}}
"""
MINION = """\
root_dir: {place}/{id}
id: {id}
master: 127.0.0.1
publish_port: {publish}
master_port: {ret}
transport: {transport}
user: root
auth_timeout: 60
"""


def is_there() -> bool:
    return os.geteuid() == 0 and (SALT / "bin" / "salt-master").exists()


def environment(salt: Path = SALT) -> dict[str, str]:
    """The environment of a program of Salt; libraries that another version lacks are those of ``SALT``."""
    paths = [*dict.fromkeys((str(salt), str(SALT))), os.environ.get("PYTHONPATH", "")]
    found = {name: value for name, value in os.environ.items() if name not in (*SLOW, "SALTERN_STATE_DIR")}
    return {**found, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def transport() -> str:
    """The transport that Salt can use here."""
    has = subprocess.run([sys.executable, "-c", "import zmq"], env=environment(), stderr=subprocess.DEVNULL)
    return "tcp" if has.returncode else "zeromq"


class SaltFleet:
    """A master, its minions, and what its user types."""

    def __init__(self, place: Path, states: Path, *, more: str = "", salt: Path = SALT) -> None:
        """``more`` is added to the configuration of the master and of each minion; it may use ``{place}``.
        ``salt`` is the directory in which Salt is installed."""
        self.place = place
        self.salt = salt
        self._more = more
        self.transport = transport()
        self._states = states
        self._ports = {"publish": free_port(), "ret": free_port()}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def _running(self) -> list[subprocess.Popen[bytes]]:
        return list(self._processes.values())

    def start(self, names: tuple[str, ...]) -> None:
        self._configure("master", MASTER, states=self._states)
        self._spawn("salt-master", "master")
        for name in names:
            self._configure("minion", MINION, id=name)
            self._spawn("salt-minion", name)
        wait_for("all minions there", lambda: len(self.answers("test.ping")) == len(names), patience=400)

    def _configure(self, kind: str, config: str, **values: object) -> None:
        folder = self.place / f"etc-{values.get('id', kind)}"
        folder.mkdir(parents=True)
        text = (config + self._more).format(
            place=self.place, transport=self.transport, **self._ports, **{"id": kind, **values}
        )
        (folder / kind).write_text(text)

    def _spawn(self, program: str, name: str, *before: str) -> None:
        """Start a program with the configuration of ``name``; ``before`` are words before its command."""
        folder = self.place / f"etc-{name}"
        with (folder / "log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [*before, *self._command(program, "-c", str(folder))],
                env=environment(self.salt),
                stdout=log,
                stderr=log,
            )

    def kill(self, name: str) -> None:
        """Kill a minion and all that it has started, as a crash of its machine would.

        Salt does not start a minion while the process table has the number in its PID file. A process that
        has lost its parent stays there until the machine's first process has collected it.
        """
        first = self._processes[name]
        everyone = tree(first.pid)
        for pid in everyone:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        first.wait()
        wait_for("all of them gone", lambda: not any(map(_is_listed, everyone)), patience=60)

    def restart(self, name: str) -> None:
        """Kill a minion and all that it has started, and start it anew."""
        self.kill(name)
        self._spawn("salt-minion", name)

    def _command(self, program: str, *words: str) -> list[str]:
        return [sys.executable, str(self.salt / "bin" / program), *words]

    def answers(self, *words: str) -> dict[str, object]:
        """What each minion that answers returns."""
        done = self.command("salt", "*", *words, "--static", "--out", "json")
        with suppress(ValueError):
            found = json.loads(done.stdout)
            return {id: value for id, value in found.items() if value is True or isinstance(value, dict)}
        return {}

    def command(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program of Salt with the configuration of the master."""
        return subprocess.run(
            self._command(program, "-c", str(self.place / "etc-master"), *words),
            env=environment(self.salt),
            capture_output=True,
            text=True,
            check=False,
        )

    def verb(self, *words: str, expect: int) -> float:
        """Seconds of a command that all minions must answer."""
        before = time.perf_counter()
        found = self.answers(*words)
        taken = time.perf_counter() - before
        if len(found) != expect:
            raise RuntimeError(f"salt {' '.join(words)}: {len(found)} minions of {expect} answered")
        return taken

    @property
    def master(self) -> int:
        return self._running[0].pid

    @property
    def all(self) -> list[int]:
        return [one.pid for one in self._running]

    def stop(self) -> None:
        everyone = tree(*self.all)
        for one in reversed(self._running):
            one.terminate()
        for one in self._running:
            with suppress(subprocess.TimeoutExpired):
                one.wait(10)
        for pid in everyone:
            with suppress(OSError):
                if str(self.place).encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)
        for one in self._running:
            one.wait()


def _is_listed(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")


@contextmanager
def running_salt(place: Path, states: Path, names: tuple[str, ...]) -> Iterator[SaltFleet]:
    fleet = SaltFleet(place, states)
    try:
        fleet.start(names)
        yield fleet
    finally:
        fleet.stop()
