"""The roster of a controller, read again when its files change. A roster with mistakes does not replace a
good one.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct, field

from saltern.fleet.protocol.ids import BadId, check_id
from saltern.fleet.ssh.roster.host import Host, Roster
from saltern.fleet.ssh.roster.read import read_roster
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

LOOK = 2.0  # seconds between two checks of the files
PROGRAM = 60.0  # seconds after which an inventory program is run again
BESIDE = ("group_vars", "host_vars")
USUAL = ("roster", "roster.d")  # beside the controller's configuration


class Known(Struct):
    """The contents of the roster: hosts by id, and its groups as targets."""

    hosts: dict[str, Host] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)


def usual_sources(config: str) -> tuple[str, ...]:
    """The existing rosters beside a configuration file."""
    paths = (os.path.join(os.path.dirname(config), name) for name in USUAL)
    return tuple(path for path in paths if os.path.exists(path))


class RosterKeeper:
    """``known`` is the last valid roster; ``problem`` says why the newest cannot be used."""

    def __init__(self, sources: Callable[[], Sequence[str]], *, now: Callable[[], float]) -> None:
        self.known = Known()
        self.problem = ""
        self.is_read = False
        self._sources = sources
        self._now = now
        self._looked = 0.0
        self._mark: object = None

    async def refresh(self, *, force: bool = False) -> bool:
        """Check the files if that is due; True if there is something new."""
        now = self._now()
        if not force and self.is_read and 0 <= now - self._looked < LOOK:
            return False
        self._looked = now
        sources = list(self._sources())
        mark = (sources, await asyncio.to_thread(lambda: list(marks(sources, now))))
        if mark == self._mark:
            return False
        self._mark = mark
        return await self._read(sources)

    async def _read(self, sources: Sequence[str]) -> bool:
        try:
            roster = await asyncio.to_thread(read_roster, sources)
        except OperationError as problem:
            self.problem = "; ".join(map(str, problem.diagnostics))
            log.warning("the roster is not taken: %s", self.problem)
            return False
        for warning in roster.warnings:
            log.warning("the roster: %s", warning)
        self.problem, self.is_read = "", True
        self.known = _read_known(roster)
        return True


def _read_known(roster: Roster) -> Known:
    hosts = {host.id: host for host in roster.hosts.values() if _is_id(host.id)}
    groups = {name: f"L@{','.join(members)}" for name, members in roster.groups.items()}
    return Known(hosts=hosts, groups=groups)


def _is_id(id_: str) -> bool:
    try:
        check_id(id_)
    except BadId as problem:
        log.warning("the roster: %s is left out: %s", id_, problem)
        return False
    return True


def marks(sources: Iterable[str], now: float) -> Iterator[tuple[object, ...]]:
    """A fingerprint of a roster's files: names, times and sizes; for a program, the current minute."""
    for source in sources:
        path = os.path.expanduser(source)
        for file in _files(path):
            try:
                found = os.stat(file)
            except OSError:
                continue
            minute = now // PROGRAM if found.st_mode & 0o111 else 0
            yield file, found.st_mtime_ns, found.st_size, minute


def _files(path: str) -> Iterator[str]:
    """The file itself, or those of the directory, and the files with variables beside them."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    yield path
    tops = [folder] if os.path.isdir(path) else [os.path.join(folder, name) for name in BESIDE]
    for top in tops:
        for directory, _, names in os.walk(top):
            yield from (os.path.join(directory, name) for name in sorted(names))
