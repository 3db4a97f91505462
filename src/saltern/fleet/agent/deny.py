"""The deny list of a machine: functions that controllers must not call here.

``agent.d/deny.yaml`` beside the agent's configuration::

    deny:
      - cmd.*
      - system.reboot

The file must belong to root or to the agent's user: a list that others can write, or that cannot be read,
denies everything until it is repaired.
"""

from __future__ import annotations

import logging
import os

from msgspec import Struct

from saltern.language.diagnostics import OperationError
from saltern.system.ownership import foreign

log = logging.getLogger(__name__)

KEY = "deny"
ALL = ("*",)


class Denied(Struct, frozen=True):
    """The patterns, and the problem with the list, if any."""

    patterns: tuple[str, ...] = ()
    problem: str = ""


class DenyList:
    """Reads the file again when it has changed."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: object = None
        self._known = Denied()

    def __call__(self) -> tuple[str, ...]:
        return self.current().patterns

    def current(self) -> Denied:
        """The list as it is now."""
        seen = self._identity()
        if seen != self._seen:
            self._known, self._seen = self._read(), seen
            if self._known.problem:
                log.error("every job is refused: %s", self._known.problem)
        return self._known

    def _identity(self) -> object:
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            return "missing"
        except OSError as problem:
            return str(problem)
        changing = (found.st_mtime_ns, found.st_ctime_ns, found.st_size)
        return (*changing, found.st_ino, found.st_uid, found.st_gid, found.st_mode)

    def _read(self) -> Denied:
        if not os.path.lexists(self._path):
            return Denied()
        for place in (self._path, os.path.dirname(self._path)):
            if why := foreign(place):
                return Denied(ALL, f"the deny list {place} {why}: chown root and chmod go-w")
        return read_deny(self._path)


def read_deny(path: str) -> Denied:
    """Read a deny list; one that cannot be understood denies everything."""
    from saltern.config.files import mapping

    try:
        found = mapping(path)
    except OperationError as problem:
        return Denied(ALL, str(problem.diagnostics[0]))
    except OSError as problem:
        return Denied(ALL, f"the deny list {path} cannot be read: {problem.strerror}")
    patterns = found.get(KEY)
    if patterns is None and not found:
        return Denied()
    if not isinstance(patterns, list) or not all(isinstance(one, str) for one in patterns):
        return Denied(ALL, f"{path}: write 'deny:' and a list of functions, such as cmd.*")
    return Denied(tuple(patterns))
