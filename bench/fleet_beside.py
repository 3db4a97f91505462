"""Compares a fleet with a real Salt master with as many minions: the same work, one after the other."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from bench import fleet_salt
from bench.fleet_local import running_fleet
from bench.fleet_measure import cpu, median, row, skipped

PING, APPLY = 20.0, 5.0  # times
STATES = """\
{% for number in range(100) %}
TARGET/{{ grains['id'] }}/f{{ number }}:
  file.managed:
    - contents: file {{ number }} of {{ grains['id'] }}
    - makedirs: true
{% endfor %}
"""
SLS = "hundred"


class Cost(NamedTuple):
    """Of one command, with all that it causes: seconds, seconds of CPU of the server and of everyone."""

    wall: float
    server: float
    everyone: float


def _client() -> float:
    """CPU of commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


WARM_UP = 3  # commands before the first that counts: both sides have then loaded what they load once
PINGS = 3  # times the rounds of an apply: the kernel counts CPU in hundredths of a second


def _cost(run: Callable[[], float], server: int, everyone: list[int], rounds: int) -> Cost:
    for _ in range(WARM_UP):
        run()
    before = cpu(server), cpu(*everyone) + _client()
    wall = median(run() for _ in range(rounds))
    after = cpu(server), cpu(*everyone) + _client()
    return Cost(wall, (after[0] - before[0]) / rounds, (after[1] - before[1]) / rounds)


def _ours(place: Path, names: tuple[str, ...], rounds: int) -> dict[str, Cost]:
    with running_fleet(place / "ours", names) as fleet:
        fleet.write(f"controller/salt/{SLS}.sls", STATES.replace("TARGET", str(place / "files-ours")))
        server, everyone = fleet.controller(), [fleet.controller(), *fleet.agents()]

        def run(*words: str) -> Callable[[], float]:
            return lambda: fleet.verb(*words, "--on", "*", "--out", "json")

        return {
            "ping": _cost(run("call", "test.ping"), server, everyone, PINGS * rounds),
            "apply": _cost(run("apply", SLS), server, everyone, rounds),
        }


def _salts(place: Path, names: tuple[str, ...], rounds: int) -> tuple[str, dict[str, Cost]]:
    states = place / "states"
    states.mkdir()
    (states / f"{SLS}.sls").write_text(STATES.replace("TARGET", str(place / "files-salt")))
    with fleet_salt.running_salt(place / "salt", states, names) as fleet:

        def run(*words: str) -> Callable[[], float]:
            return lambda: fleet.verb(*words, expect=len(names))

        return fleet.transport, {
            "ping": _cost(run("test.ping"), fleet.master, fleet.all, PINGS * rounds),
            "apply": _cost(run("state.apply", SLS), fleet.master, fleet.all, rounds),
        }


def measure(place: Path, count: int, rounds: int) -> list[dict[str, Any]]:
    if not fleet_salt.is_there():
        return [skipped("beside Salt", "needs root, and `make salt`")]
    names = tuple(f"s{number}" for number in range(count))
    ours = _ours(place, names, rounds)
    transport, salt = _salts(place, names, rounds)
    rows = []
    for verb, part, limit in (
        ("ping", "wall", PING),
        ("ping", "server", PING),
        ("apply", "wall", APPLY),
        ("apply", "everyone", APPLY),
    ):
        theirs, own = getattr(salt[verb], part), getattr(ours[verb], part)
        note = f"{theirs:.3f} s of Salt ({transport}), {own:.3f} s of ours"
        name = f"{NAMES[verb]}, {count} real agents beside as many minions: {NAMES[part]}"
        rows.append(row(name, theirs / max(own, 0.001), limit, least=True, note=note))
    return rows


NAMES = {
    "ping": "ping",
    "apply": "apply of 100 states",
    "wall": "times faster",
    "server": "times less CPU of the server",
    "everyone": "times less CPU in all",
}
