"""Calls of ``pkg`` states and functions, and what has to be true of every one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from saltern.config.settings import Settings
from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context, Run
from saltern.modules.api.declare import Function, StateFunction
from saltern.sources.tree import Tree
from saltern.system.clock import FakeClock
from saltern.system.host import Host


class NoFunctions:
    def __getitem__(self, name: str) -> Callable[..., object]:
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return False


class NoTemplates:
    def text(self, text: str, **_: object) -> str:
        return text

    def data(self, text: str, **_: object) -> object:
        return text


def make_run(base: Path, host: Host, grains: dict[str, object]) -> Run:
    return Run(
        settings=Settings(id="here", cachedir=str(base / "cache")),
        grains=grains,
        pillar={},
        opts={},
        files=Tree({"base": [str(base / "states")]}),
        templates=NoTemplates(),
        functions=NoFunctions(),
        host=host,
        clock=FakeClock(),
    )


class Calls:
    """``change``, ``same`` and ``refusal`` call a state the way it has to work, and look after it."""

    def fresh_run(self) -> Run:
        raise NotImplementedError

    def versions(self) -> dict[str, str]:
        """What is installed, asked without saltern."""
        raise NotImplementedError

    def context(self, *, test: bool = False) -> Context:
        return Context(self.fresh_run(), test=test)

    def call(self, function: StateFunction[...], name: str, **args: object) -> Result:
        return function(self.context(), name, **args)

    def ask(self, function: Function[..., Any], *args: object, **more: object) -> object:
        return function(self.context(), *args, **more)

    def foresee(self, function: StateFunction[...], name: str, **args: object) -> Result:
        return function(self.context(test=True), name, **args)

    def change(self, function: StateFunction[...], name: str, *, once: bool = True, **args: object) -> Result:
        """Test, run, run again: the test foretells the run and touches nothing, nor does the second run."""
        before = self.versions()
        foreseen = self.foresee(function, name, **args)
        assert self.versions() == before
        done = self.call(function, name, **args)
        assert done.outcome is Outcome.OK, done.comment
        assert done.changes
        assert foreseen.outcome is Outcome.WOULD_CHANGE, foreseen.comment
        assert foreseen.changes == done.changes
        if once:
            again = self.same(function, name, **args)
            assert again.data.keys() == done.data.keys()
        return done

    def same(self, function: StateFunction[...], name: str, **args: object) -> Result:
        """Nothing to do, in test mode and in a run."""
        for test in (True, False):
            result = function(self.context(test=test), name, **args)
            assert (result.outcome, result.changes) == (Outcome.OK, {}), result
            assert result.data
        return result

    def refusal(self, function: StateFunction[...], name: str, **args: object) -> str:
        """The comment of a run that fails and changes nothing, in test mode as well."""
        before = self.versions()
        for test in (True, False):
            result = function(self.context(test=test), name, **args)
            assert result.outcome is Outcome.FAILED, result
            assert self.versions() == before
            assert "Traceback" not in result.comment
        return result.comment
