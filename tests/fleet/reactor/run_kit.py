"""Reaction files that leave marks: the events that they are for, and what is left after each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

HERE = Path(__file__).parent / "runs"
PATIENCE = 120.0  # seconds for all marks of a run
QUIET = 1.0  # seconds in which nothing more must come

Marks = dict[str, list[str]]


class Run(Struct, frozen=True):
    """An event, and the files that react to it. ``job``: it is the return of this function on a system."""

    files: tuple[str, ...]
    tag: str
    data: dict[str, Any] = {}
    job: str = ""


HOSTS = ["web1", "web2"]
RUNS: dict[str, Run] = {
    "states": Run(("states",), "runs/states"),
    "old forms": Run(("old",), "runs/old", {"hosts": ["db1", "web2"]}),
    "one for each": Run(("each",), "runs/each", {"hosts": ["db1", *HOSTS], "but": "web1"}),
    "an orchestration": Run(("orchestrated",), "runs/orchestrated", {"wanted": True}),
    "nothing": Run(("orchestrated",), "runs/orchestrated", {"wanted": False}),
    "two files": Run(("each", "python"), "runs/both", {"hosts": HOSTS}),
    "from one to the next": Run(("first",), "runs/first", {"hosts": HOSTS}),
    "after a job": Run(("returned",), "salt/job/*/ret/web2", job="test.echo"),
    "in Python": Run(("python",), "runs/python", {"hosts": ["web2"]}),
    "several kinds": Run(("asked",), "runs/asked", {"hosts": HOSTS}),
    "a mistake": Run(("wrong",), "runs/wrong"),
}


def reactor_map() -> list[dict[str, list[str]]]:
    """``reactor`` of a configuration."""
    rows: dict[str, list[str]] = {"runs/second": [str(HERE / "second.sls")]}
    for one in RUNS.values():
        rows[one.tag] = [str(HERE / f"{name}.sls") for name in one.files]
    return [{tag: files} for tag, files in rows.items()]


def marks(place: Path) -> Marks:
    """The lines of each file, in order of the alphabet: systems work at the same time."""
    return {path.name: sorted(path.read_text().splitlines()) for path in sorted(place.iterdir())}


def after(place: Path, expected: Marks | None, begin: Callable[[], object]) -> Marks:
    """What is left when no more comes; with what is expected, as soon as that is there and stays."""
    place.mkdir(parents=True)
    begin()
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if expected is not None and marks(place) == expected:
            time.sleep(QUIET)
            break
        time.sleep(0.2)
    return marks(place)


def data_of(run: Run, place: Path) -> Mapping[str, Any]:
    return {**run.data, "place": str(place)}
