"""A fleet of real processes for the benches, and what its user types."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from saltern.cli.local_fleet import CONFIG, CONTROLLER, LocalFleet
from saltern.fleet.client.problems import ControllerError
from saltern.system import own_program

SLOW = ("PYTHONDONTWRITEBYTECODE",)  # a developer's: each start would compile all modules again


class BenchFleet(LocalFleet):
    """A fleet of processes below one directory, and what its user types."""

    def controller(self) -> int:
        return self._running[CONTROLLER].pid

    def agents(self) -> list[int]:
        return [one.pid for name, one in self._running.items() if name != CONTROLLER]

    def broker(self) -> int:
        """The process of the broker; of the last one, if it has just ended."""
        with open(f"{self.directory}/controller/controller/broker/broker.pid") as file:
            return int(file.read())

    def broker_is_back(self) -> bool:
        """True if the controller has started its broker again, and takes jobs."""
        try:
            with self.client() as client:
                return bool(client.ready())
        except ControllerError:
            return False

    def token(self, uses: int) -> str:
        with self.client() as client:
            return client.tokens.make(uses=uses)

    def online(self) -> int:
        with self.client() as client:
            return sum(bool(one["online"]) for one in client.systems.list())

    def verb(self, *words: str) -> float:
        """Seconds of a command that must succeed."""
        before = time.perf_counter()
        done = self.call(words[0], "--controller", self.socket, *words[1:])
        taken = time.perf_counter() - before
        if done.returncode:
            said = (done.stderr + done.stdout)[-2000:]
            raise RuntimeError(f"{' '.join(words)} ends with {done.returncode}: {said}")
        return taken

    def stored(self) -> int:
        """Returns of the newest job that are stored."""
        with self.client() as client:
            newest = next(iter(client.jobs.list()))
            return sum(one["status"] == "returned" for one in client.jobs.targets(newest["jid"]))


@contextmanager
def running_fleet(place: Path, systems: tuple[str, ...] = (), config: str = "") -> Iterator[BenchFleet]:
    place.mkdir()
    fleet = BenchFleet(str(place), own_program.environment(without=SLOW))
    fleet.write("controller/controller.yaml", CONFIG + config)
    try:
        fleet.start(systems)
        yield fleet
    finally:
        fleet.stop()
