"""The current map: that of the configuration, of a file that it names, and rows added at run time."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.reactor.options import ReactorOptions
from saltern.fleet.reactor.rules import BadMap, Rule, read_map
from saltern.fleet.store import audit
from saltern.fleet.store.database import Connection
from saltern.fleet.store.settings import read_setting, write_setting
from saltern.language.diagnostics import Diagnostic, OperationError

ADDED = "reactor rules"
KEEP = 2.0  # seconds between two reads of the rows that other controllers have added


class Rules:
    """Rows of the configuration first; ``add`` and ``remove`` are for those that people add later."""

    def __init__(self, calls: Calls, options: ReactorOptions, *, now: Callable[[], float]) -> None:
        self.problem = ""
        self._calls = calls
        self._options = options
        self._now = now
        self._added: tuple[Rule, ...] = ()
        self._read = float("-inf")
        self._file: tuple[float, tuple[Rule, ...]] = (0.0, ())

    async def current(self) -> tuple[Rule, ...]:
        if not 0 <= self._now() - self._read < KEEP:
            self._added = await self._calls.look(_added_rules)
            self._read = self._now()
        return (*self._options.rules, *self._of_file(), *self._added)

    def _of_file(self) -> tuple[Rule, ...]:
        """The map of a file, read again when it has changed; mistakes are reported, and the last good
        map stays in use.
        """
        if not (path := self._options.file):
            return ()
        try:
            changed = os.stat(path).st_mtime
            if changed != self._file[0]:
                self._file = (changed, read_map(_read_yaml(path)))
            self.problem = ""
        except (OSError, BadMap) as problem:
            self.problem = f"the map of the reactor {path} cannot be read: {problem}"
        return self._file[1]

    async def add(self, who: str, pattern: str, sources: object) -> Rule:
        """Add a row; refused if its pattern is there already, as in Salt."""
        try:
            (rule,) = read_map([{pattern: sources}])
        except BadMap as problem:
            raise _refusal(str(problem)) from None
        if any(one.pattern == pattern for one in await self.current()):
            raise _refusal(f"the reactor already has a row for {pattern!r}")
        await self._calls.write(_add, who, rule, self._now())
        self._read = float("-inf")
        return rule

    async def remove(self, who: str, pattern: str) -> None:
        """Remove a row that was added; those of the configuration stay."""
        if not await self._calls.write(_remove, who, pattern, self._now()):
            raise _refusal(f"no row with the tag {pattern!r} was added; rows of the configuration stay")
        self._read = float("-inf")


def _read_yaml(path: str) -> Any:
    from saltern.render.yaml import read
    from saltern.render.yaml_limits import YamlProblem

    with open(path, encoding="utf-8") as file:
        try:
            return read(file.read())
        except YamlProblem as problem:
            raise BadMap(str(problem)) from None


def _refusal(what: str) -> OperationError:
    return OperationError(
        Diagnostic(code="reactor-rule", what=what, fix="saltern reactor list shows the rows")
    )


def _added_rules(connection: Connection) -> tuple[Rule, ...]:
    return read_setting(connection, ADDED, tuple[Rule, ...]) or ()


def _add(connection: Connection, who: str, rule: Rule, now: float) -> None:
    write_setting(connection, ADDED, [*_added_rules(connection), rule])
    audit.append(connection, who, "reactor.add", {"tag": rule.pattern, "sources": list(rule.sources)}, now)


def _remove(connection: Connection, who: str, pattern: str, now: float) -> bool:
    before = _added_rules(connection)
    left = [one for one in before if one.pattern != pattern]
    if len(left) == len(before):
        return False
    write_setting(connection, ADDED, left)
    audit.append(connection, who, "reactor.remove", {"tag": pattern}, now)
    return True
