"""A fleet of real processes, killed at random: every job is done once on every system, every return stored.

``make chaos`` runs 40 agents with 25 jobs and three seeds; ``CHAOS_FLEET=AGENTSxJOBSxSEEDS`` says another
size. In CI a small one runs. Odd seeds keep the fleet in a PostgreSQL server, which is killed, too; even ones
in SQLite. A failure names its seed and keeps the directory.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from random import Random

import pytest
from tests.postgres_server import Server, running_server

from saltern.cli.local_fleet import CONFIG, CONTROLLER, LocalFleet
from saltern.fleet.agent.task import JobFolder
from saltern.fleet.client.problems import ControllerError
from saltern.language.diagnostics import OperationError

USUAL = "40x25x3" if os.environ.get("CHAOS_SECONDS") else "4x6x1"
AGENTS, JOBS, SEEDS = (int(part) for part in os.environ.get("CHAOS_FLEET", USUAL).split("x"))
FIRST_SEED = int(os.environ.get("CHAOS_SEED", "1"))
MOST_KILLS = 3  # of one job's workers; an agent gives up after some more, and says so
PATIENCE = 180.0 + 10 * AGENTS
STATES = """\
mark:
  cmd.run:
    - name: echo {{ pillar['mark'] }} >> {{ pillar['marks'] }}/{{ opts['id'] }}
slow:
  cmd.run:
    - name: sleep 0.1
    - require:
      - cmd: mark
"""


class Chaos:
    """Kills one process after the other, and starts again what does not start by itself."""

    def __init__(self, fleet: LocalFleet, names: list[str], chance: Random, server: Server | None) -> None:
        self._fleet, self._names, self._chance, self._server = fleet, names, chance, server
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.kills: Counter[str] = Counter()
        self._killed: Counter[str] = Counter()
        self.problem: BaseException | None = None

    def __enter__(self) -> Chaos:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        kinds: dict[str, Callable[[], bool]] = {
            "agent": self._kill_agent,
            "worker": self._kill_worker,
            "controller": self._kill_controller,
            "broker": self._kill_broker,
            "database": self._kill_database,
        }
        if self._server is None:
            kinds.pop("database")
        weights = [8 if kind in ("agent", "worker") else 1 for kind in kinds]
        first = self._chance.sample(list(kinds), len(kinds))  # each once, then mostly the small ones
        try:
            while not self._stop.wait(self._chance.uniform(0.2, 1.2)):
                kind = first.pop() if first else self._chance.choices(list(kinds), weights)[0]
                self.kills[kind] += kinds[kind]()
        except BaseException as problem:
            self.problem = problem

    def _kill_agent(self) -> bool:
        name = self._chance.choice(self._names)
        self._fleet.end(name, how=signal.SIGKILL)
        self._fleet.run_agent(name)
        return True

    def _kill_worker(self) -> bool:
        found = {job: pid for name in self._names for job, pid in workers(self._fleet, name)}
        spared = {job for job, times in self._killed.items() if times >= MOST_KILLS}
        if not (left := sorted(found.keys() - spared)):
            return False
        job = self._chance.choice(left)
        self._killed[job] += 1
        return kill(found[job])

    def _kill_controller(self) -> bool:
        self._fleet.end(CONTROLLER, how=signal.SIGKILL)
        time.sleep(self._chance.uniform(0, 0.5))
        self._fleet.start_controller()
        return True

    def _kill_broker(self) -> bool:
        directory = os.path.join(self._fleet.directory, CONTROLLER)
        done = subprocess.run(
            ["pgrep", "-f", f"nats-server.*{directory}"], capture_output=True, text=True, check=False
        )
        return sum(kill(int(pid)) for pid in done.stdout.split()) > 0

    def _kill_database(self) -> bool:
        assert self._server is not None
        self._server.kill()
        time.sleep(self._chance.uniform(0, 0.5))
        self._server.start_after_crash()
        return True


def workers(fleet: LocalFleet, name: str) -> Iterator[tuple[str, int]]:
    jobs = Path(fleet.directory, name, "agent", "jobs")
    with suppress(FileNotFoundError):
        for path in list(jobs.iterdir()):
            with suppress(OSError):
                if pid := JobFolder(str(path)).lock.holder():
                    yield str(path), pid


def kill(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def patiently(work: Callable[[], object], what: str) -> None:
    """Until it is true; a controller that is away is waited for."""
    end, last = time.monotonic() + PATIENCE, ""
    while True:
        try:
            if work():
                return
        except ControllerError as problem:
            last = str(problem)
        assert time.monotonic() < end, f"{what}: {last}"
        time.sleep(0.1)


def submit(fleet: LocalFleet, marks: Path, number: int) -> str:
    """Ask for a job until the controller has taken it; the token makes it one job."""
    jid = ""

    def ask() -> bool:
        nonlocal jid
        with fleet.client() as client:
            submitted = client.jobs.submit(
                "state.apply",
                "*",
                args=["marks"],
                kwargs={"pillar": {"mark": number, "marks": str(marks)}},
                client_token=f"chaos-{os.path.basename(fleet.directory)}-{number:08}",
            )
        jid = submitted["jid"]
        return True

    patiently(ask, f"job {number} was not taken")
    return jid


def statuses(fleet: LocalFleet, jid: str) -> dict[str, str]:
    with fleet.client() as client:
        return {row["system"]: f"{row['status']} {row['why']}".strip() for row in client.jobs.targets(jid)}


def is_over(fleet: LocalFleet, jid: str) -> bool:
    with fleet.client() as client:
        return client.jobs.get(jid)["ended"] is not None


@pytest.fixture
def directory() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="chaos"))  # sockets need short paths
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def server(seed: int) -> Iterator[Server | None]:
    with running_server() if seed % 2 else nullcontext() as made:
        yield made


def configure(fleet: LocalFleet, server: Server | None) -> None:
    """States that leave a mark, and where the fleet is kept."""
    fleet.write("controller/salt/marks.sls", STATES)
    if server is not None:
        server.psql("CREATE DATABASE fleet")
        address = f"postgresql://postgres@/fleet?host={server.place}&port={server.port}"
        fleet.write("controller/controller.yaml", f"{CONFIG}database: {address}\n")


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + SEEDS))
def test_every_job_is_done_once_and_every_return_stored(
    directory: Path, server: Server | None, seed: int
) -> None:
    names = [f"sys{number}" for number in range(AGENTS)]
    fleet, chance = LocalFleet(str(directory)), Random(seed)
    marks = directory / "marks"
    marks.mkdir()
    chaos = Chaos(fleet, names, chance, server)
    configure(fleet, server)
    try:
        fleet.start(names)
        with chaos:
            jids = []
            for number in range(JOBS):
                jids.append(submit(fleet, marks, number))
                time.sleep(chance.uniform(0.2, 1.5))
        assert chaos.problem is None, chaos.problem
        for jid in jids:
            patiently(lambda jid=jid: is_over(fleet, jid), f"seed {seed}: {jid} is open: {chaos.kills}")  # type: ignore[misc]
        found = {jid: statuses(fleet, jid) for jid in jids}
        odd = {
            jid: bad
            for jid, rows in found.items()
            if (bad := {k: v for k, v in rows.items() if v != "returned"})
        }
        wanted = sorted(range(JOBS))
        done = {name: sorted(map(int, (marks / name).read_text().split())) for name in names}
        assert done == dict.fromkeys(names, wanted), f"seed {seed}: {chaos.kills} {odd}"
        assert not odd, f"seed {seed}: {chaos.kills}"
        with fleet.client() as client:
            for jid in jids:
                stored = Counter(row["system"] for row in client.jobs.returns(jid))
                assert stored == dict.fromkeys(names, 1)
        print(f"seed {seed}: {AGENTS} agents, {JOBS} jobs, killed {dict(chaos.kills)}")
    except BaseException:
        kept = f"/var/tmp/{directory.name}-kept-{seed}"  # the directory for temporary files is removed
        shutil.copytree(directory, kept, symlinks=True, ignore_dangling_symlinks=True, ignore=_sockets)
        print(f"seed {seed}: kept in {kept}; killed {dict(chaos.kills)}; {chaos.problem}")
        raise
    finally:
        with suppress(OperationError, ControllerError):
            fleet.stop()


def _sockets(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if Path(folder, name).is_socket() or Path(folder, name).is_fifo()]
