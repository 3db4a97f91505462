"""A Context for module tests: the real machine, with small stand-ins for the tree and the renderers."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from saltern.config.settings import Settings
from saltern.modules.api.context import Context, Run
from saltern.modules.api.declare import Function
from saltern.system.clock import FakeClock
from saltern.system.host import LocalHost

MODULES = (
    "cmd config cp data defaults disk environ grains group hashutil http ini log match mine network pillar "
    "random saltutil slsutil status sys temp test timezone user"
)


class TreeFiles:
    """One root; every environment but ``base`` is empty."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, path: str, env: str) -> str | None:
        place = self.root / path
        return str(place) if env == "base" and place.is_file() else None

    def names(self, env: str) -> list[str]:
        found = sorted(place for place in self.root.rglob("*") if place.is_file())
        return [str(place.relative_to(self.root)) for place in found] if env == "base" else []

    def directories(self, env: str) -> list[str]:
        found = sorted(place for place in self.root.rglob("*") if place.is_dir())
        return [str(place.relative_to(self.root)) for place in found] if env == "base" else []

    def links(self, env: str) -> dict[str, str]:
        found = sorted(place for place in self.root.rglob("*") if place.is_symlink())
        named = {str(place.relative_to(self.root)): str(place.readlink()) for place in found}
        return named if env == "base" else {}

    def environments(self) -> list[str]:
        return ["base"]


class TinyTemplates:
    """Replaces ``{{ name }}`` by the value of that name, and reads ``key: value`` lines."""

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
        known = {"engine": engine, "env": env, "path": path} | dict(values or {})
        return re.sub(r"{{ (\w+) }}", lambda found: str(known[found[1]]), text)

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
        made = self.text(text, engine=pipe, env=env, path=path, values=values)
        return dict(line.split(": ", 1) for line in made.splitlines() if ": " in line)


class AllFunctions:
    """``salt``: every function saltern ships that these tests know of."""

    def __init__(self) -> None:
        self.ctx: Context | None = None
        self.known: dict[str, Function[..., object]] = {}
        for module in MODULES.split():
            loaded = importlib.import_module(f"saltern.modules.functions.{module}")
            parts = {f"{loaded.__name__}.{part}" for part in getattr(loaded, "LAZY", {}).values()}
            places = (loaded, *map(importlib.import_module, parts))
            for one in [one for place in places for one in vars(place).values()]:
                if isinstance(one, Function) and one.module.startswith(loaded.__name__):
                    self.known[f"{module}.{one.name}"] = one

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __contains__(self, name: object) -> bool:
        return name in self.known

    def __getitem__(self, name: str) -> Callable[..., object]:
        assert self.ctx is not None
        return partial(self.known[name].body, self.ctx)


MakeContext = Callable[..., Context]


@pytest.fixture
def make_context(tmp_path: Path) -> MakeContext:
    """``make_context(grains=…, pillar=…, opts=…, test=…, runas=…)``; the tree is ``tmp_path/tree``."""
    tree = tmp_path / "tree"
    tree.mkdir()

    def make(
        *,
        grains: dict[str, object] | None = None,
        pillar: dict[str, object] | None = None,
        opts: dict[str, object] | None = None,
        test: bool = False,
        runas: str | None = None,
    ) -> Context:
        functions = AllFunctions()
        run = Run(
            settings=Settings(id="here", state_dir=str(tmp_path / "state")),
            grains=grains if grains is not None else {"id": "here", "os": "Debian", "os_family": "Debian"},
            pillar=pillar or {},
            opts={"id": "here", "cachedir": str(tmp_path / "cache"), **(opts or {})},
            files=TreeFiles(tree),
            templates=TinyTemplates(),
            functions=functions,
            host=LocalHost(),
            clock=FakeClock(),
        )
        functions.ctx = Context(run, test=test, runas=runas)
        return functions.ctx

    return make


@pytest.fixture
def ctx(make_context: MakeContext) -> Context:
    return make_context()


@pytest.fixture
def testing(make_context: MakeContext) -> Context:
    """A Context in test mode."""
    return make_context(test=True)


@pytest.fixture
def salt(ctx: Context) -> Callable[..., object]:
    """``salt("mod.fun", …)``: a call as a template makes it."""
    return lambda name, *args, **kwargs: ctx.functions[name](*args, **kwargs)


@pytest.fixture
def tree(ctx: Context, tmp_path: Path) -> Callable[[str, str], str]:
    """``tree(path, text)``: put a file into the tree."""

    def put(path: str, text: str) -> str:
        place = tmp_path / "tree" / path
        os.makedirs(place.parent, exist_ok=True)
        place.write_text(text)
        return str(place)

    return put
