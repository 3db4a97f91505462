"""A controller that renders, and agents, as real processes; everything below one short directory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.fleet.harness import user_environment

from saltern.cli.local_fleet import CONFIG, LocalFleet

SECRET = "Sibylla-"  # every text that no agent may have holds it


class Place:
    """The fleet, and what its user types. ``states`` and ``pillar`` are the roots of the controller."""

    def __init__(self, directory: Path, config: str = "") -> None:
        self.base = directory
        self.states, self.pillar = directory / "controller" / "salt", directory / "controller" / "pillar"
        self.env = user_environment(directory)
        self.fleet = LocalFleet(str(directory), self.env)
        self.fleet.write("controller/controller.yaml", CONFIG + config)
        self.states.mkdir(parents=True, exist_ok=True)

    def write(self, name: str, text: str) -> None:
        self.fleet.write(f"controller/salt/{name}", text)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "saltern", words[0], "--controller", self.fleet.socket, *words[1:]]
        return subprocess.run(
            command, env=self.env, cwd=self.base, capture_output=True, text=True, timeout=120, check=False
        )

    def apply(self, *words: str, system: str = "web1") -> dict[str, dict[str, Any]]:
        """The states of one system, by their IDs."""
        done = self.run("apply", *words, "--on", system, "--out", "json")
        try:
            found = json.loads(done.stdout)[system]
        except (ValueError, KeyError):
            raise AssertionError(done) from None
        assert isinstance(found, dict), done
        return {one["__id__"]: one for one in found.values()}

    def holders(self, text: str, system: str) -> list[str]:
        """The files below the directory of an agent that hold a text, packed or not."""
        return [str(path) for path in (self.base / system).rglob("*") if path.is_file() and holds(path, text)]


def holds(path: Path, text: str) -> bool:
    import zlib

    data = path.read_bytes()
    if text.encode() in data:
        return True
    for start in _starts(data):
        try:
            if text.encode() in zlib.decompressobj().decompress(data[start:]):
                return True
        except zlib.error:
            continue
    return False


def _starts(data: bytes) -> list[int]:
    """Where something that is compressed may begin."""
    found: list[int] = []
    at = -1
    while (at := data.find(b"\x78", at + 1)) >= 0 and len(found) < 2000:
        found.append(at)
    return found
