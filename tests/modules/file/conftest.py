"""A desk to try file states on: a tree of sources, a scratch directory, and a context for each call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import jinja2
import pytest

from saltern.config.settings import Settings
from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context, Run
from saltern.modules.api.declare import StateFunction
from saltern.sources.tree import Tree
from saltern.system.clock import SystemClock
from saltern.system.host import LocalHost


class Jinja:
    """Just enough of the renderers."""

    def text(
        self,
        text: str,
        *,
        engine: str,
        env: str,
        path: str = "",
        sls: str = "",
        values: Mapping[str, object] | None = None,
    ) -> str:
        if engine != "jinja":
            raise CompileError(Diagnostic(code="unknown-renderer", what=f"no renderer is called {engine!r}"))
        environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
        try:
            return environment.from_string(text).render(**(values or {}))
        except jinja2.TemplateError as problem:
            raise CompileError(Diagnostic(code="template", what=str(problem))) from None

    def data(
        self,
        text: str,
        *,
        pipe: str,
        env: str,
        path: str = "",
        sls: str = "",
        values: Mapping[str, object] | None = None,
    ) -> object:
        raise NotImplementedError


class Lookups:
    """``pillar.get`` and ``grains.get`` on plain dictionaries."""

    def __init__(self, pillar: dict[str, object], grains: dict[str, object]) -> None:
        self._roots = {"pillar.get": pillar, "grains.get": grains}

    def __getitem__(self, name: str) -> Callable[..., object]:
        def get(key: str, default: object = "", delimiter: str = ":") -> object:
            value: object = self._roots[name]
            for part in key.split(delimiter):
                if not isinstance(value, dict) or part not in value:
                    return default
                value = value[part]
            return value

        return get

    def __contains__(self, name: object) -> bool:
        return name in self._roots


class Desk:
    """Where a test works. ``at`` is a path in the scratch directory, ``source`` a file put into the tree."""

    def __init__(self, base: Path) -> None:
        self.scratch = base / "scratch"
        self.states = base / "states"
        self.cache = base / "cache"
        self.scratch.mkdir()
        self.states.mkdir()
        self.pillar: dict[str, object] = {}
        self.grains: dict[str, object] = {}
        self.run = Run(
            settings=Settings(cachedir=str(self.cache)),
            grains=self.grains,
            pillar=self.pillar,
            opts={},
            files=Tree({"base": [str(self.states)], "other": [str(base / "other")]}),
            templates=Jinja(),
            functions=Lookups(self.pillar, self.grains),
            host=LocalHost(),
            clock=SystemClock(),
        )

    def at(self, name: str) -> str:
        return str(self.scratch / name)

    def put(self, name: str, text: str = "", mode: int = 0o644) -> str:
        path = self.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    def source(self, name: str, text: str = "", mode: int = 0o644) -> str:
        path = self.states / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return f"salt://{name}"

    def text(self, name: str) -> str:
        return (self.scratch / name).read_text()

    def mode(self, name: str) -> int:
        return os.lstat(self.at(name)).st_mode & 0o7777

    def names(self) -> list[str]:
        """Everything in the scratch directory, so that nothing is left behind unnoticed."""
        return sorted(str(path.relative_to(self.scratch)) for path in self.scratch.rglob("*"))

    def context(self, *, test: bool = False) -> Context:
        return Context(self.run, test=test)

    def call(self, function: StateFunction[...], name: str, **args: object) -> Result:
        return function(self.context(), name, **args)

    def foresee(self, function: StateFunction[...], name: str, **args: object) -> Result:
        return function(self.context(test=True), name, **args)

    def change(self, function: StateFunction[...], name: str, **args: object) -> Result:
        """Test, run, run again: the test foretells the run and touches nothing, nor does the second run."""
        before = self.names()
        foreseen = self.foresee(function, name, **args)
        assert self.names() == before
        done = self.call(function, name, **args)
        assert done.outcome is Outcome.OK, done.comment
        assert done.changes
        assert foreseen.outcome is Outcome.WOULD_CHANGE, foreseen.comment
        assert foreseen.changes == done.changes
        again = self.call(function, name, **args)
        assert (again.outcome, again.changes) == (Outcome.OK, {}), again
        assert again.data
        assert again.data.keys() == done.data.keys()
        return done

    def same(self, function: StateFunction[...], name: str, **args: object) -> Result:
        """Nothing to do, in test mode and in a run."""
        for test in (True, False):
            result = function(self.context(test=test), name, **args)
            assert (result.outcome, result.changes) == (Outcome.OK, {}), result
        return result

    def refusal(self, function: StateFunction[...], name: str, **args: object) -> str:
        """The comment of a run that fails and changes nothing."""
        before = self.names()
        result = self.call(function, name, **args)
        assert result.outcome is Outcome.FAILED, result
        assert self.names() == before
        assert "Traceback" not in result.comment
        return result.comment


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)
