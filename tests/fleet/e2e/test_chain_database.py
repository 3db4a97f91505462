"""A database that is lost in the middle of a chain: a PostgreSQL that is killed, as by a fail-over, or a
backup that is put back while systems are ahead of it. Nothing else comes of the run."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.faults.kit import FaultFleet, short_directory, wait_until
from tests.postgres_server import Server, running_server

from saltern.cli.local_fleet import CONFIG

SYSTEMS = ("web1", "web2")
# Each action waits for a file, so that it is known where the run is; the last one fails on web2.
CHAIN = """\
chain: killed
actions:
  - {id: a, command: 'echo a >> BASE/$SYSTEM; until test -e BASE/go-a; do sleep 0.05; done'}
  - {id: b, command: 'echo b >> BASE/$SYSTEM; until test -e BASE/go-b; do sleep 0.05; done'}
  - {id: c, command: 'echo c >> BASE/$SYSTEM; test $SYSTEM = web1'}
  - {id: d, command: 'echo d >> BASE/$SYSTEM'}
"""
# Each system has files of its own that let it continue.
STEPWISE = """\
chain: stepwise
actions:
  - {id: a, command: 'echo a >> BASE/$SYSTEM; until test -e BASE/$SYSTEM.a; do sleep 0.05; done'}
  - {id: b, command: 'echo b >> BASE/$SYSTEM; until test -e BASE/$SYSTEM.b; do sleep 0.05; done'}
  - {id: c, command: 'echo c >> BASE/$SYSTEM; until test -e BASE/$SYSTEM.c; do sleep 0.05; done'}
"""
END = "its end"
# What a system does when the backup is made, and when it is put back.
MOMENTS = {
    "web1": ("a", "b"),
    "web2": ("a", "c"),
    "web3": ("a", END),
    "web4": ("b", END),
    "web5": ("c", "c"),
    "web6": (END, END),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as found:
        yield found


@pytest.fixture
def plain_fleet() -> Iterator[FaultFleet]:
    """With SQLite."""
    with short_directory() as directory:
        found = FaultFleet(directory)
        found.clocks |= {name: {"SYSTEM": name} for name in MOMENTS}
        try:
            found.start(tuple(MOMENTS))
            yield found
        finally:
            found.stop()


@pytest.fixture
def fleet(server: Server) -> Iterator[FaultFleet]:
    server.psql("CREATE DATABASE chains")
    address = f"postgresql://postgres@/chains?host={server.place}&port={server.port}"
    with short_directory() as directory:
        found = FaultFleet(directory)
        found.write("controller/controller.yaml", f"{CONFIG}database: {address}\n")
        found.clocks |= {name: {"SYSTEM": name} for name in SYSTEMS}
        try:
            found.start(SYSTEMS)
            yield found
        finally:
            found.stop()


def test_34_a_database_that_is_killed_in_the_middle_of_a_chain_changes_nothing_of_its_results(
    fleet: FaultFleet, server: Server
) -> None:
    base = fleet.base / "done"
    base.mkdir()
    with fleet.client() as client:
        run = client.chain_runs.start("web*", text=CHAIN.replace("BASE", str(base)))["run"]
        wait_until(lambda: logs(base) == {"web1": ["a"], "web2": ["a"]}, "nothing begins")
        server.kill()
        (base / "go-a").touch()  # what ends now is not taken in before there is a database again
        wait_until(lambda: logs(base) == {"web1": ["a", "b"], "web2": ["a", "b"]}, "it does not continue")
        server.start_after_crash()
        (base / "go-b").touch()
        wait_until(lambda: not is_open(client, run), "the run does not end", 120)
        legs = {leg["system"]: leg for leg in client.chain_runs.legs(run)}
        found = client.chain_runs.get(run)
    check(base, found, legs)


def test_34_a_backup_that_is_put_back_while_legs_run_learns_what_was_done_since(
    plain_fleet: FaultFleet,
) -> None:
    """Each system is at another action when the backup is made, and at another when it is put back."""
    fleet, base = plain_fleet, plain_fleet.base / "done"
    base.mkdir()
    backup, folder = str(fleet.base / "backup"), ("--directory", str(fleet.base / "controller"))
    with fleet.client() as client:
        text = STEPWISE.replace("BASE", str(base))
        runs = {name: client.chain_runs.start(name, text=text)["run"] for name in MOMENTS}
        for name, (then, _) in MOMENTS.items():
            proceed(base, client, runs[name], name, to=then)
        made = fleet.call("controller", "backup", backup, *folder)
        assert made.returncode == 0, made.stderr
        for name, (_, later) in MOMENTS.items():
            proceed(base, client, runs[name], name, to=later)
    fleet.end("controller", how=signal.SIGKILL)
    put_back = fleet.call("controller", "restore", backup, *folder)
    assert put_back.returncode == 0, put_back.stderr
    fleet.start_controller()
    with fleet.client() as client:
        for name, (_, later) in MOMENTS.items():
            if later != END:  # what runs now is learned without waiting for its end
                proceed(base, client, runs[name], name, to=later)
            proceed(base, client, runs[name], name, to=END)
            assert logs(base, MOMENTS)[name] == ["a", "b", "c"], "I2"


def proceed(base: Path, client: Any, run: str, system: str, *, to: str) -> None:
    """Let a system continue until this action runs, or its leg has ended, and the controller knows it."""
    done, _, rest = "abc".partition(to)
    for one in done:
        (base / f"{system}.{one}").touch()
    wanted = {**dict.fromkeys(done, "succeeded"), **dict.fromkeys(rest, "not run")}
    if to != END:
        wanted[to] = "running"

    def is_there() -> bool:
        (leg,) = client.chain_runs.legs(run)
        known = {row["action"]: row["status"] for row in leg["steps"]}
        return known == wanted and (to != END or leg["status"] == "succeeded")

    wait_until(is_there, f"{system} is not known to be at {to}", 120)


def check(base: Path, run: dict[str, Any], legs: dict[str, dict[str, Any]]) -> None:
    """The results are those of a run in which nothing happened, and each action was done once."""
    steps = {name: {row["action"]: row["status"] for row in leg["steps"]} for name, leg in legs.items()}
    good = dict.fromkeys("abc", "succeeded")
    assert steps == {"web1": {**good, "d": "succeeded"}, "web2": {**good, "c": "failed", "d": "not run"}}
    assert (run["status"], legs["web2"]["steps"][-1]["blocked_by"]) == ("partial", "c")
    assert logs(base) == {"web1": ["a", "b", "c", "d"], "web2": ["a", "b", "c"]}, "I2"


def is_open(client: Any, run: str) -> bool:
    return str(client.chain_runs.get(run)["status"]) in ("scheduled", "running")


def logs(base: Path, systems: Iterable[str] = SYSTEMS) -> dict[str, list[str]]:
    found = {name: (base / name).read_text().split() for name in systems if (base / name).exists()}
    assert all(number == 1 for log in found.values() for number in Counter(log).values()), found
    return found
