"""Reads ``only`` of a rule: ``test``, ``approval``, ``approval: 2``, ``window: NAME``, or a list of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from saltern.fleet.access.policy import Condition
from saltern.language.diagnostics import did_you_mean
from saltern.language.source import Path

WORDS = {"test": Condition(test=True), "approval": Condition(approvals=1)}
KEYS = ("test", "window", "approval")
MOST_APPROVALS = 20
Wrong = Callable[[str, Path, str], None]


class ConditionReader:
    """``rule`` is the path to the rule; ``report`` records a mistake: what is wrong, its path, the fix."""

    def __init__(self, windows: Mapping[str, object], report: Wrong, rule: Path) -> None:
        self.windows, self.report, self.at = windows, report, rule

    def wrong(self, what: str, path: Path, fix: str) -> None:
        self.report(what, (*self.at, *path), fix)

    def read(self, value: object) -> tuple[Condition, ...]:
        """The conditions, at least one of which must hold."""
        if value is None:
            return ()
        if isinstance(value, list):
            read = [self.one(each, ("only", place)) for place, each in enumerate(value)]
        else:
            read = [self.one(value, ("only",))]
        if not read:
            self.wrong("'only' is empty", ("only",), "remove it, or name a condition")
        return tuple(read)

    def one(self, value: object, path: Path) -> Condition:
        if isinstance(value, Mapping):
            return self.all_of(value, path)
        if isinstance(value, str) and value in WORDS:
            return WORDS[value]
        fix = did_you_mean(str(value), WORDS) or "conditions are test, approval, approval: N and window: NAME"
        if isinstance(value, str) and value in self.windows:
            fix = f"write it as 'window: {value}'"
        self.wrong(f"no condition is called {value!r}", path, fix)
        return Condition(approvals=MOST_APPROVALS)

    def all_of(self, given: Mapping[object, object], path: Path) -> Condition:
        for key in given:
            if key not in KEYS:
                fix = did_you_mean(str(key), KEYS) or f"there are {', '.join(KEYS)}"
                self.wrong(f"no condition is called {str(key)!r}", (*path, key), fix)
        if not given:
            self.wrong("'only' is empty", path, "remove it, or name a condition")
        return Condition(
            test=self.test(given, path),
            windows=self.names(given["window"], (*path, "window")) if "window" in given else (),
            approvals=self.approvals(given["approval"], (*path, "approval")) if "approval" in given else 0,
        )

    def test(self, given: Mapping[object, object], path: Path) -> bool:
        if given.get("test", True) is not True:
            self.wrong("'test' can only be true", (*path, "test"), "remove it")
        return "test" in given

    def names(self, value: object, path: Path) -> tuple[str, ...]:
        names = tuple(map(str, value)) if isinstance(value, list) else (str(value),)
        for name in names:
            if name not in self.windows:
                fix = did_you_mean(name, map(str, self.windows)) or "define it under 'windows'"
                self.wrong(f"no window is called {name!r}", path, fix)
        if not names:
            self.wrong("'window' names no window", path, "name one of 'windows'")
        return names

    def approvals(self, value: object, path: Path) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_APPROVALS:
            self.wrong("'approval' must be a number of persons", path, f"from 1 to {MOST_APPROVALS}")
            return MOST_APPROVALS
        return value
