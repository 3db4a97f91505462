"""State modules that write down how they were called, and answer by their name."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from saltern.language.result import Outcome, Result, failed, ok
from saltern.modules.api.context import Context
from saltern.modules.api.declare import StateFunction
from saltern.modules.api.registry import Registry


class Recording:
    """``registry`` has the modules ``rec`` (which reacts to a watch) and ``alt`` (which does not)."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, bool]] = []  # function, name, test
        self.registry = Registry(states={"rec": self._module("rec", reacts=True), "alt": self._module("alt")})

    def _module(self, name: str, *, reacts: bool = False) -> ModuleType:
        module = ModuleType(name)
        answers: dict[str, Callable[[bool], Result]] = {
            "fine": lambda test: ok("fine"),
            "changes": lambda test: _changed(test),
            "fails": lambda test: failed("fails"),
            "fails_late": lambda test: _changed(True) if test else failed("fails"),
        }
        if reacts:
            answers["mod_watch"] = lambda test: _changed(test)
        for fun, answer in answers.items():
            setattr(module, fun, self._function(f"{name}.{fun}", fun, answer))
        return module

    def _function(self, whole: str, fun: str, answer: Callable[[bool], Result]) -> StateFunction[...]:
        def body(ctx: Context, name: str, **_: object) -> Result:
            self.calls.append((whole, name, ctx.test))
            return answer(ctx.test)

        return StateFunction(body, fun)


def _changed(test: bool) -> Result:
    return Result(
        outcome=Outcome.WOULD_CHANGE if test else Outcome.OK, changes={"what": {"old": 0, "new": 1}}
    )
