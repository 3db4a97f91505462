#!/usr/bin/env python3
"""States over SSH, beside what people use for that: Ansible, pyinfra and salt-ssh, in the same run.

``python bench/ssh.py [--quick] [--json FILE]``: rows of name, value, limit, and whether it holds. Ten sshd's
of this machine are the hosts; each has 100 directories to keep. The floor is ten bare ``ssh HOST true`` at
once, and then the same states here, once. Peers are those of ``make engines`` and ``make salt``; ``--quick``
has few states for them, because Ansible needs minutes for many.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = Path(HERE).parent
sys.path = [str(ROOT), *(path for path in sys.path if path != HERE)]  # bench is a package, not bench.py
ENGINES, SALT = ROOT / "build" / "engines" / "bin", ROOT / "build" / "salt"
os.environ.setdefault("ANSIBLE_PLAYBOOK", str(ENGINES / "ansible-playbook"))
os.environ.setdefault("PYINFRA", str(ENGINES / "pyinfra"))
os.environ.setdefault(
    "SALT_SSH", f"env PYTHONPATH={SALT} PYTHONDONTWRITEBYTECODE= {sys.executable} {SALT}/bin/salt-ssh"
)

from bench.fleet_local import SLOW  # noqa: E402
from bench.fleet_measure import median, row, run_bench, skipped, tree  # noqa: E402

sys.path.insert(0, HERE)  # these two belong to bench.py, and so does the "tools" that they import
import gen  # noqa: E402
import remote  # noqa: E402

Rows = list[dict[str, Any]]
TIMES_FLOOR = 3.0
MOST_PORTS = 16  # of one sshd
MANY_MB, MANY_PROCESSES = 200, 75  # of the caller; 50 connections at a time, and what else there is
LIMIT = 600.0  # seconds of one command


class Sizes:
    """How much is measured."""

    def __init__(self, quick: bool) -> None:
        self.hosts = 10
        self.states = 100
        self.rounds = 3 if quick else 5
        self.peer_states = 30 if quick else 100
        self.many = 30 if quick else 100


def environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in SLOW} | more


def timed(argv: list[str], env: dict[str, str], cwd: str | None = None) -> tuple[float, Any]:
    """Seconds that a command takes, and what came of it."""
    begun = time.perf_counter()
    done = subprocess.run(
        argv, env=env, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT
    )
    return time.perf_counter() - begun, done


def check(done: Any, what: str) -> None:
    if done.returncode:
        raise RuntimeError(f"{what}: {done.returncode} {done.stdout[-400:]} {done.stderr[-400:]}")


class Field:
    """Hosts, their roster, and the states that each of them gets."""

    def __init__(self, place: Path, hosts: int, states: int) -> None:
        self.place, self.hosts, self.states = place, hosts, states
        shares = [min(MOST_PORTS, hosts - first) for first in range(0, hosts, MOST_PORTS)]
        self.servers = [remote.Sshd(f"{place}/{number}", share) for number, share in enumerate(shares)]
        self.sshd = self.servers[0]
        self.target = place / "target"
        (place / "config").write_text(f"state_dir: {place}/state\ncachedir: {place}/kept\n")
        gen.sls_dirs(str(place / "srv"), "dirs", states, 1, f"{self.target}/{{{{ grains['id'] }}}}")
        self.known = place / "known"
        self.known.write_text("".join(map(_known_hosts, self.servers)))
        ends = [(server, port) for server in self.servers for port in server.ports]
        self.roster = place / "roster.yaml"
        self.roster.write_text(
            json.dumps({f"h{number}": self._entry(number, *end) for number, end in enumerate(ends)})
        )

    def _entry(self, number: int, server: Any, port: int) -> dict[str, Any]:
        return {
            "host": "127.0.0.1",
            "port": port,
            "user": remote.USER,
            "priv": server.key,
            "thin_dir": str(self.place / "there" / f"h{number}"),
        }

    def environment(self) -> dict[str, str]:
        return environment(XDG_CACHE_HOME=str(self.place / "cache"), XDG_RUNTIME_DIR=str(self.place))

    def words(self) -> list[str]:
        options = ["--file-root", f"{self.place}/srv", "--config", f"{self.place}/config"]
        return [sys.executable, "-m", "saltern", "apply", "dirs", *options]

    def over_ssh(self, on: str = "*") -> list[str]:
        return [
            *self.words(),
            *("--on", on, "--roster", str(self.roster), "--known-hosts", str(self.known)),
        ]

    def made(self) -> int:
        return sum(len(names) for _, names, _ in os.walk(self.target))

    def stop(self) -> None:
        for server in self.servers:
            server.stop()


def _known_hosts(server: Any) -> str:
    key = " ".join(Path(f"{server.dir}/host.pub").read_text().split()[:2])
    return "".join(f"[127.0.0.1]:{port} {key}\n" for port in server.ports)


def bare(field: Field) -> float:
    """Seconds of ``ssh HOST true``, at once on all hosts."""
    options = field.sshd.opts()
    begun = time.perf_counter()
    running = [
        subprocess.Popen(["ssh", *options, "-p", str(port), f"{remote.USER}@127.0.0.1", "true"])
        for port in field.sshd.ports
    ]
    if any(one.wait() for one in running):
        raise RuntimeError("a host cannot be reached")
    return time.perf_counter() - begun


def local(field: Field) -> float:
    """Seconds of the same states on this machine, without a change to make."""
    words = [*field.words(), "--id", "local"]
    check(timed(words, field.environment())[1], "the local run")
    taken, done = timed(words, field.environment())
    check(done, "the local run")
    return taken


def measure_runs(place: Path, sizes: Sizes) -> Rows:
    """The first run and the second one, beside the floor."""
    field = Field(place, sizes.hosts, sizes.states)
    try:
        first, seconds, floors = _own_runs(field, sizes)
    finally:
        field.stop()
    return [_floor_row(first, median(seconds), floors)]


def measure_peers(place: Path, sizes: Sizes) -> Rows:
    """The first run and the second one, beside those of others, on the same hosts with the same states."""
    field = Field(place, sizes.hosts, sizes.peer_states)
    rows: Rows = []
    try:
        first, seconds, _ = _own_runs(field, sizes)
        for peer in (remote.AnsibleSsh, remote.PyinfraSsh, remote.SaltSsh):
            rows += _beside(field, peer, first, median(seconds))
    finally:
        field.stop()
    return rows


def _own_runs(field: Field, sizes: Sizes) -> tuple[float, list[float], list[tuple[float, float]]]:
    first, done = timed(field.over_ssh(), field.environment())
    check(done, "the first run")
    if field.made() != field.hosts * (field.states + 1):
        raise RuntimeError(f"{field.made()} directories were made: {done.stdout[-400:]}")
    seconds, floors = [], []
    for _ in range(sizes.rounds):
        taken, done = timed(field.over_ssh(), field.environment())
        check(done, "the second run")
        seconds.append(taken)
        floors.append((bare(field), local(field)))
    return first, seconds, floors


def _floor_row(first: float, second: float, floors: list[tuple[float, float]]) -> dict[str, Any]:
    ssh, here = (median(column) for column in zip(*floors, strict=True))
    note = (
        f"{second:.2f} s (the first {first:.2f} s); ssh true on all {ssh:.2f} s, the states here {here:.2f} s"
    )
    return row("second run on ten hosts, times the floor", second / (ssh + here), TIMES_FLOOR, note=note)


def _beside(field: Field, peer: Any, first: float, second: float) -> Rows:
    """How many times a peer's seconds ours are, for the first run and for the second."""
    names = [
        f"{which} run, {field.states} states, times that of {peer.name}" for which in ("first", "second")
    ]
    try:
        one = peer(str(field.place), sys.executable)
        if not one.cmd:
            return [skipped(name, "it is not installed") for name in names]
        target = str(field.place / f"target-{peer.name}")
        os.makedirs(target)
        taken = [_peer_run(field, one, target) for _ in range(2)]
    except Exception as problem:
        return [skipped(name, f"{type(problem).__name__}: {problem}") for name in names]
    pairs = zip((first, second), taken, strict=True)
    return [
        row(name, ours / theirs, 1.0, note=f"{ours:.2f} s beside {theirs:.2f} s")
        for name, (ours, theirs) in zip(names, pairs, strict=True)
    ]


def _peer_run(field: Field, peer: Any, target: str) -> float:
    case = peer.cases(field.sshd, field.hosts, field.states, target)
    taken, done = timed(case.argv, environment(**case.env), case.cwd)
    case.check(done.returncode, done.stdout, done.stderr)
    peer.after(field.sshd)
    return taken


class Watch:
    """The most processes and memory that a command has at a time, with all below it."""

    def __init__(self) -> None:
        self.processes, self.megabytes = 0, 0.0

    def run(self, argv: list[str], env: dict[str, str]) -> None:
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            while process.poll() is None:
                self._look(process.pid)
                time.sleep(0.02)
            said.seek(0)
            if process.returncode:
                raise RuntimeError(f"the run failed: {said.read()[-800:]}")

    def _look(self, pid: int) -> None:
        self.processes = max(self.processes, len(tree(pid)))
        try:
            for text in Path(f"/proc/{pid}/status").read_text().splitlines():
                if text.startswith("VmRSS:"):
                    self.megabytes = max(self.megabytes, int(text.split()[1]) / 1024)
        except (OSError, IndexError):
            return


def measure_many(place: Path, sizes: Sizes) -> Rows:
    """Many hosts from one caller: what it takes at a time."""
    field = Field(place, sizes.many, 5)
    try:
        watch = Watch()
        watch.run(field.over_ssh(), field.environment())
        if field.made() != sizes.many * 6:
            raise RuntimeError(f"{field.made()} directories were made")
    finally:
        field.stop()
    name = f"{sizes.many} hosts, a first run"
    return [
        row(f"{name}: memory of the caller, MB", watch.megabytes, MANY_MB),
        row(f"{name}: processes of the caller at a time", watch.processes, MANY_PROCESSES),
    ]


PARTS: dict[str, Callable[[Path, Sizes], Rows]] = {
    "runs": measure_runs,
    "peers": measure_peers,
    "many": measure_many,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, within three minutes")
    return run_bench(parser, PARTS, lambda args: Sizes(args.quick))


if __name__ == "__main__":
    sys.exit(main())
