#!/usr/bin/env python3
"""The figures of a fleet, each beside something that is measured in the same run.

``python bench/fleet.py [--quick] [--json FILE]``: rows of name, value, limit, and whether it holds.
``--quick`` has few agents and ends within three minutes on a quiet machine; ``--only`` takes the parts that
are named.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [
    os.path.dirname(HERE),
    *(path for path in sys.path if path != HERE),
]  # bench is a package, not bench.py

import nats  # noqa: E402
from bench import fleet_beside, fleet_events, fleet_files, fleet_render, fleet_through  # noqa: E402
from bench.fleet_light import COMMAND, KEPT, bare_tls  # noqa: E402
from bench.fleet_local import BenchFleet, running_fleet  # noqa: E402
from bench.fleet_measure import (  # noqa: E402
    cpu_alone,
    median,
    own_memory,
    resident,
    row,
    run_bench,
    skipped,
    wait_for,
)
from tests.fleet.controller.kit import ROOT, new_issuer  # noqa: E402

from saltern.fleet.broker.tls import prepare_certificates  # noqa: E402
from saltern.fleet.protocol.ids import new_jid  # noqa: E402
from saltern.fleet.protocol.messages import Audience, Job  # noqa: E402

Rows = list[dict[str, Any]]
SQLITE_MS, POSTGRESQL_MS = 0.5, 0.7  # of the controller's CPU, for each stored return
BARE = 4.0  # times a bare publish and its replies
CONTROLLER_MB = 600
AGENT_MB, AGENT_CPU, GROWTH = 18, 0.05, 1.10  # megabytes, percent of a core, times


class Sizes:
    """How much is measured."""

    def __init__(self, quick: bool, agents: int | None = None) -> None:
        self.light = agents or (200 if quick else 1000)
        self.many = 0 if quick else agents or 10_000
        self.real = min(agents or 20, 5 if quick else 20)
        self.rounds = 3 if quick else 7
        self.idle = 20 if quick else 60  # seconds
        self.jobs = 300 if quick else 10_000
        self.files = 20 if quick else 100
        self.callers = agents or (50 if quick else 200)
        self.callbacks = 200 if quick else 1000
        self.events = 1000 if quick else 10_000


# -- light agents ------------------------------------------------------------------------------------


@contextmanager
def light_agents(kind: str, count: int, where: str, token: str = "") -> Iterator[None]:
    """Agents in as many processes as there are cores."""
    share = -(-count // min(os.cpu_count() or 1, count))
    running = []
    for first in range(0, count, share):
        words = [where or str(first), str(min(share, count - first))]
        command = [sys.executable, os.path.join(HERE, "fleet_light.py"), kind, *words]
        running.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    try:
        for one in running:
            one.stdin.write(token + "\n")
            one.stdin.flush()
        for one in running:
            if one.stdout.readline().strip() != "ready":
                raise RuntimeError("the light agents did not come up")
        yield
    finally:
        for one in running:
            one.stdin.close()
            one.wait()


@contextmanager
def bare_clients(
    place: Path, count: int, *, tls: bool, signed: bool = False
) -> Iterator[Callable[[], float]]:
    """Nothing but NATS, with as many clients; over TLS, as in a fleet, or not. What is given measures the
    seconds from a publish to the last of its replies. ``signed``: each client verifies the signature of the
    command, and replies are stored before they are counted.
    """
    port = fleet_files.free_port()
    files = prepare_certificates(str(place / "bare"), ("localhost",), fleet="bench", now=time.time())
    words = ["--tls", "--tlscert", files.server, "--tlskey", files.server_key] if tls else []
    words += ["-js", "-sd", str(place / "kept")] if signed else []
    server = subprocess.Popen(
        [fleet_files.SERVER, "-a", "127.0.0.1", "-p", str(port), *words],
        stderr=subprocess.DEVNULL,
        cwd=place,
    )
    url, ca = f"nats://localhost:{port}", files.ca if tls else ""
    try:
        wait_for("the broker", lambda: _listens(port))
        if signed:
            asyncio.run(_make_stream(url, ca))
        root = ROOT.public.hex() if signed else ""
        with light_agents("bare", count, url, f"{ca} {root}"):
            yield lambda: asyncio.run(_bare_rounds(url, ca, count, 2, signed=signed))
    finally:
        server.terminate()
        server.wait()


def _listens(port: int) -> bool:
    import socket

    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def _make_stream(url: str, ca: str) -> None:
    client = await nats.connect(url, tls=bare_tls(ca))
    await client.jetstream().add_stream(name="KEPT", subjects=[f"{KEPT}.*"])
    await client.close()


def _signed_ping() -> bytes:
    job = Job(jid=new_jid(time.time()), function="test.ping", user="bench")
    return new_issuer().issue(job, Audience(everyone=True), now=time.time(), life=60)


async def _bare_rounds(url: str, ca: str, count: int, rounds: int, *, signed: bool) -> float:
    client = await nats.connect(url, tls=bare_tls(ca))
    taken = []
    command = _signed_ping() if signed else b'{"function": "test.ping"}'
    for number in range(rounds + 1):
        left, done = count, asyncio.Event()

        async def reply(_message: object, done: asyncio.Event = done) -> None:
            nonlocal left
            left -= 1
            if not left:
                done.set()

        inbox = f"bench.reply.{number}"
        held = await client.subscribe(f"{KEPT}.*" if signed else inbox, cb=reply)
        await client.flush()
        before = time.perf_counter()
        await client.publish(COMMAND, command, reply=inbox)
        await asyncio.wait_for(done.wait(), 120)
        taken.append(time.perf_counter() - before)
        await held.unsubscribe()
    await client.close()
    return median(taken[1:])  # the first is to warm up


@contextmanager
def light_fleet(place: Path, count: int, config: str = "") -> Iterator[BenchFleet]:
    """A real controller with light agents that are there."""
    with (
        running_fleet(place, config=config) as fleet,
        light_agents("fleet", count, "", fleet.token(count)),
    ):
        wait_for("all agents online", lambda: fleet.online() == count)
        yield fleet


def _ping_rounds(
    fleet: BenchFleet, count: int, rounds: int, others: Sequence[Callable[[], float]] = ()
) -> tuple[list[float], float]:
    """Seconds of a ping from the command line and of each of ``others``, in turn with it; and the
    controller's CPU in seconds for each stored return.
    """
    ping = ("call", "test.ping", "--on", "*", "--out", "quiet")
    fleet.verb(*ping)
    taken: list[list[float]] = []
    used = 0.0
    for _ in range(rounds):
        before = cpu_alone(fleet.controller())
        seconds = fleet.verb(*ping)
        used += cpu_alone(fleet.controller()) - before
        taken.append([seconds, *(other() for other in others)])
    if fleet.stored() != count:
        raise RuntimeError(f"{fleet.stored()} returns of {count} are stored")
    return [median(column) for column in zip(*taken, strict=True)], used / (count * rounds)


def measure_ping(place: Path, sizes: Sizes) -> Rows:
    """Ping beside bare NATS, and the controller's CPU on SQLite."""
    count = sizes.light
    with (
        bare_clients(place, count, tls=False) as ping_plain,
        bare_clients(place, count, tls=True) as ping_bare,
        bare_clients(place, count, tls=True, signed=True) as ping_signed,
        light_fleet(place / "light", count) as fleet,
    ):
        others = (ping_bare, ping_plain, ping_signed)
        (taken, bare, plain, signed), each = _ping_rounds(fleet, count, sizes.rounds, others)
    beside = f"{taken * 1000:.0f} ms beside {bare * 1000:.0f} ms"
    without = f"beside {plain * 1000:.0f} ms without TLS: {taken / plain:.1f}"
    stored = f"beside {signed * 1000:.0f} ms of signed commands and stored replies: {taken / signed:.1f}"
    note = f"{beside}; {without}; {stored}"
    name = f"ping of {count} light agents, times a bare publish and replies over TLS"
    return [
        row(name, taken / bare, BARE, note=note),
        row("controller CPU for each stored return, SQLite, ms", each * 1000, SQLITE_MS),
    ]


def measure_postgresql(place: Path, sizes: Sizes) -> Rows:
    name = "controller CPU for each stored return, PostgreSQL, ms"
    from tests import postgres_server

    if os.geteuid() or postgres_server.BINARIES is None or not shutil.which("psql"):
        return [skipped(name, "needs root, and the packages postgresql and postgresql-client")]
    with postgres_server.running_server() as server:
        server.psql("CREATE DATABASE fleet")
        address = f"postgresql://postgres@/fleet?host={server.place}&port={server.port}"
        with light_fleet(place / "pg", sizes.light, f'database: "{address}"\n') as fleet:
            _, each = _ping_rounds(fleet, sizes.light, sizes.rounds)
    return [row(name, each * 1000, POSTGRESQL_MS)]


def measure_many(place: Path, sizes: Sizes) -> Rows:
    """One controller with as many light agents as one machine may have."""
    if not sizes.many:
        return []
    with light_fleet(place / "many", sizes.many) as fleet:
        fleet.verb("call", "test.ping", "--on", "*", "--out", "quiet")
        lost, size = sizes.many - fleet.stored(), resident(fleet.controller())
    return [
        row(f"returns of {sizes.many} light agents that are not stored", lost, 0),
        row(f"memory of the controller of {sizes.many} light agents, MB", size, CONTROLLER_MB),
    ]


def measure_herd(place: Path, sizes: Sizes) -> Rows:
    """All agents lose the broker at once, by SIGKILL; how long it takes until all of them return a ping."""
    count = sizes.light
    with light_fleet(place / "herd", count) as fleet, fleet.client() as client:
        before = time.perf_counter()
        os.kill(fleet.broker(), signal.SIGKILL)
        wait_for("the broker", fleet.broker_is_back)
        lost = count
        while lost and time.perf_counter() - before < 300:  # light agents do not ask for what they missed
            jid = client.jobs.submit("test.ping", "*", wait=10)["jid"]
            wait_for("the end of the ping", lambda jid=jid: client.jobs.get(jid)["ended"], 300)
            lost = sum(one["status"] != "returned" for one in client.jobs.targets(jid))
        taken = time.perf_counter() - before
    note = f"all returned a ping {taken:.1f} s after the broker was killed"
    return [row(f"light agents of {count} that stay away when the broker was killed", lost, 0, note=note)]


# -- real agents -------------------------------------------------------------------------------------


def measure_agent(place: Path, sizes: Sizes) -> Rows:
    """What an agent takes that has nothing to do, and what it keeps of jobs that are done."""
    names = tuple(f"s{number}" for number in range(min(3, sizes.real)))
    with running_fleet(place / "idle", names) as fleet:
        wait_for("agents at rest", lambda: _rest(fleet.agents(), 3.0), 60)
        used = sum(map(cpu_alone, fleet.agents()))
        time.sleep(sizes.idle)
        used = (sum(map(cpu_alone, fleet.agents())) - used) / len(names) / sizes.idle * 100
        before = max(map(own_memory, fleet.agents()))
        _ping_often(fleet, sizes.jobs)
        after = max(map(own_memory, fleet.agents()))
    return [
        row("agent at rest, memory of its own, MB", before, AGENT_MB),
        row("agent at rest, percent of a core", used, AGENT_CPU),
        row(f"agent after {sizes.jobs} pings, times its memory before", after / before, GROWTH),
    ]


def _rest(pids: list[int], seconds: float) -> bool:
    """True if the processes do next to nothing for that time."""
    before = sum(map(cpu_alone, pids))
    time.sleep(seconds)
    return sum(map(cpu_alone, pids)) - before < 0.005 * seconds * len(pids)


def _ping_often(fleet: BenchFleet, times: int, at_once: int = 20) -> None:
    with fleet.client() as client:
        for _ in range(0, times, at_once):
            jids = [client.jobs.submit("test.ping", "*")["jid"] for _ in range(at_once)]
            wait_for("the returns", lambda jids=jids: all(client.jobs.get(jid)["ended"] for jid in jids))


def measure_files(place: Path, sizes: Sizes) -> Rows:
    (place / "files").mkdir()
    return asyncio.run(fleet_files.measure(place / "files", sizes.files))


def measure_render(place: Path, sizes: Sizes) -> Rows:
    """Call-backs of runs whose files the controller renders."""
    return fleet_render.measure(place, sizes.callers, sizes.callbacks)


def measure_salt(place: Path, sizes: Sizes) -> Rows:
    return fleet_beside.measure(place, sizes.real, sizes.rounds)


def measure_through(place: Path, sizes: Sizes) -> Rows:
    return fleet_through.measure(place, sizes.rounds)


def measure_events(place: Path, sizes: Sizes) -> Rows:
    return fleet_events.flood_rows(place / "events", sizes.events, sizes.rounds)


PARTS: dict[str, Callable[[Path, Sizes], Rows]] = {
    "ping": measure_ping,
    "postgresql": measure_postgresql,
    "agent": measure_agent,
    "files": measure_files,
    "render": measure_render,
    "events": measure_events,
    "salt": measure_salt,
    "through": measure_through,
    "herd": measure_herd,
    "many": measure_many,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few agents, within three minutes")
    parser.add_argument("--agents", type=int, help="this many agents in place of the usual number")
    return run_bench(parser, PARTS, lambda args: Sizes(args.quick, args.agents))


if __name__ == "__main__":
    sys.exit(main())
