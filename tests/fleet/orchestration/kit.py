"""A fleet of real processes, and the command line that orchestrates it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.fleet.harness import user_environment

from saltern.cli.local_fleet import LocalFleet

LIMIT = 180  # seconds for a command


class Site:
    """The fleet, and what its user types on the controller."""

    def __init__(self, directory: Path, **environment: str) -> None:
        self.base = directory
        self.env = user_environment(directory, **environment)
        self.fleet = LocalFleet(str(directory), self.env)

    def write(self, files: Mapping[str, str]) -> None:
        """State files of the controller, by their names."""
        for name, text in files.items():
            self.fleet.write(f"controller/salt/{name}", text)

    def command(self, verb: str, *words: str) -> list[str]:
        return [sys.executable, "-m", "saltern", verb, "--controller", self.fleet.socket, *words]

    def run(self, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(verb, *words),
            env=self.env,
            cwd=self.base,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )

    def data(self, verb: str, *words: str) -> Any:
        """What a command prints as JSON, whatever its exit code."""
        done = self.run(verb, *words, "--out", "json")
        assert done.stdout, done
        return json.loads(done.stdout)

    def orchestrate(self, *words: str) -> tuple[int, dict[str, Any]]:
        """The exit code, and the results by the IDs of the states, in their order; sub states apart."""
        done = self.run("orchestrate", *words, "--out", "json")
        assert done.stdout, done
        found = json.loads(done.stdout)["local"]
        assert isinstance(found, dict), found
        rows = sorted(found.items(), key=lambda row: row[1]["__run_num__"])
        return done.returncode, {one["__id__"]: one for _, one in rows if not one.get("__parent__")}

    def below(self, *words: str) -> dict[str, list[str]]:
        """Of each state, or sub state, those that are below it, by their IDs."""
        done = self.run("orchestrate", *words, "--out", "json")
        rows = json.loads(done.stdout)["local"]
        found: dict[str, list[str]] = {}
        for one in sorted(rows.values(), key=lambda row: row["__run_num__"]):
            if one.get("__parent__"):
                found.setdefault(rows[one["__parent__"]]["__id__"], []).append(one["__id__"])
        return found


@contextmanager
def site(
    systems: tuple[str, ...], files: Mapping[str, str], *, config: str = "", **environment: str
) -> Iterator[Site]:
    """A fleet of these systems, with these files, until the end of the context."""
    directory = Path(tempfile.mkdtemp(prefix="so-")).resolve()  # short: it holds sockets
    here = Site(directory, **environment)
    try:
        here.write(files)
        if config:
            here.fleet.write("controller/controller.yaml", config)
        here.fleet.start(systems)
        yield here
    finally:
        here.fleet.stop()
        shutil.rmtree(directory, ignore_errors=True)
