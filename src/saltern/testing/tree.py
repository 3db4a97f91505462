"""A tree of SLS for a test: compiled and run with the given grains, pillar and functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TypeVar

from saltern.config.settings import Settings
from saltern.engine.apply import apply
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.engine.show import show_high, show_low, show_order, show_rendered
from saltern.facts.grains import Grains
from saltern.language.diagnostics import Diagnostics, SalternError
from saltern.system.clock import FakeClock
from saltern.testing.fakes import FakeFunction, Fakes, FakeState
from saltern.testing.memory import MemoryHost
from saltern.testing.redirect import in_memory
from saltern.testing.runs import Ran

T = TypeVar("T")

# A fictitious machine, so that a test gives the same result wherever it runs.
GRAINS: dict[str, object] = {
    "id": "test-minion",
    "host": "test-minion",
    "nodename": "test-minion",
    "fqdn": "test-minion.example.org",
    "domain": "example.org",
    "kernel": "Linux",
    "os": "Debian",
    "os_family": "Debian",
    "osfullname": "Debian GNU/Linux",
    "oscodename": "bookworm",
    "osrelease": "12",
    "osrelease_info": [12],
    "osmajorrelease": 12,
    "osfinger": "Debian-12",
    "osarch": "amd64",
    "cpuarch": "x86_64",
    "init": "systemd",
    "num_cpus": 2,
    "mem_total": 2048,
    "virtual": "physical",
    "ipv4": ["127.0.0.1"],
    "shell": "/bin/sh",
}


class StateTree:
    """Files below ``place``. ``states`` and ``pillar`` are its roots; give ``root`` for a tree of your own.

    ``grains`` are added to those of ``GRAINS``; ``pillar`` is merged over that of its files. A fake
    is the answer itself, or a function: ``functions={"network.ip_addrs": ["10.0.0.1"]}``.
    """

    def __init__(
        self,
        place: str,
        files: Mapping[str, str] | None = None,
        *,
        root: str = "",
        pillar_root: str = "",
        grains: Mapping[str, object] | None = None,
        pillar: Mapping[str, object] | None = None,
        functions: Mapping[str, FakeFunction] | None = None,
        states: Mapping[str, FakeState] | None = None,
        host: MemoryHost | None = None,
        config: Mapping[str, object] | None = None,
    ) -> None:
        self.place = place
        self.root = os.path.abspath(root) if root else os.path.join(place, "states")
        self.pillar_root = os.path.abspath(pillar_root) if pillar_root else os.path.join(place, "pillar")
        self.grains: dict[str, object] = {**GRAINS, **(grains or {})}
        self.pillar: dict[str, object] = dict(pillar or {})
        self.functions: dict[str, FakeFunction] = dict(functions or {})
        self.states: dict[str, FakeState] = dict(states or {})
        self.host = host or MemoryHost()
        self._config = dict(config or {})
        os.makedirs(self.root, exist_ok=True)
        for path, text in (files or {}).items():
            self.write(path, text)

    def write(self, path: str, text: str) -> None:
        """Write a file of the tree; below ``pillar/``, a file of the pillar."""
        below = path.removeprefix("pillar/")
        full = os.path.join(self.root if below == path else self.pillar_root, below)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    # -- without running -------------------------------------------------------------------------------

    def render(self, sls: str) -> str:
        """The rendered text of one SLS."""
        return self._show(lambda found: show_rendered(self._session(), _request(sls), found))[sls]

    def high(self, *sls: str) -> dict[str, object]:
        """High data in Salt's form; without a name, that of the top file."""
        return self._show(lambda found: show_high(self._session(), _request(*sls), found))

    def low(self, *sls: str) -> list[dict[str, object]]:
        """Low data in Salt's shape, sorted."""
        return self._show(lambda found: show_low(self._session(), _request(*sls), found))

    def order(self, *sls: str) -> list[str]:
        """The IDs in the order in which they will run; delayed blocks by their names."""
        rows = self._show(lambda found: show_order(self._session(), _request(*sls), found))
        return [str(row["id"]) for row in rows]

    def problems(self, *sls: str) -> list[str]:
        """All problems that keep the tree from running, as shown to users, with paths relative to the
        root.
        """
        try:
            self.low(*sls)
        except SalternError as wrong:
            return [str(one).replace(f"{self.root}/", "") for one in wrong.diagnostics]
        return []

    # -- running ---------------------------------------------------------------------------------------

    def apply(self, *sls: str, test: bool = False, id: str | None = None) -> Ran:
        """Run the states on ``host``, which keeps the changes: apply again to check that nothing is left to
        do.

        Raises ``CompileError`` if it does not compile.
        """
        session = self._session(test=test)
        request = Request(sls=sls, id=id)
        return Ran(self._safely(lambda: apply(session, request)))

    def _show(self, work: Callable[[Diagnostics], T]) -> T:
        found = Diagnostics()
        shown = self._safely(lambda: work(found))
        found.check()
        return shown

    def _safely(self, work: Callable[[], T]) -> T:
        with in_memory(self.host, (self.place, self.root, self.pillar_root)):
            return work()

    def _session(self, *, test: bool = False) -> Session:
        given: dict[str, object] = {
            "id": str(self.grains["id"]),
            "file_roots": {"base": [self.root]},
            "pillar_roots": {"base": [self.pillar_root]},
            "grains_file": os.devnull,
            "cachedir": os.path.join(self.place, "cache"),
            "test": test,
        }
        settings = Settings(**{**given, **self._config})  # type: ignore[arg-type]
        return Session(
            settings,
            grains=Grains(settings, lambda: self.grains, ()),
            pillar=self.pillar,
            clock=FakeClock(),
            host=self.host,
            first=(Fakes(self.functions, self.states),),
        )


def _request(*sls: str) -> Request:
    return Request(sls=sls)
