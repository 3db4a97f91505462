"""A tree with Salt-style modules in it, and a session that knows them.

``tools`` lies beside ``src`` and is not installed; the test of the lock file uses it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from saltern.compat.library import Library
from saltern.config.settings import Settings
from saltern.engine.apply import apply
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.language.result import Result
from saltern.modules.api.registry import Registry

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.append(ROOT)


class World:
    """One run: ``world.apply()`` gives the results by ID."""

    def __init__(self, root: Path, *, test: bool = False, salt: str = "", **config: Any) -> None:
        given = {
            "id": "here",
            "file_roots": {"base": [str(root / "tree")]},
            "pillar_roots": {"base": [str(root / "none")]},
            "grains_file": os.devnull,
            "cachedir": str(root / "cache"),
            "test": test,
        }
        settings = Settings(**{**given, **config})
        self.library = Library(settings, find_salt=lambda: salt)
        self.registry = Registry(before=(self.library.own,), after=(self.library.installed,))
        self.session = Session(settings, registry=self.registry, pillar={"told": "yes"})
        self.library.bind(self.session.run, self.registry)

    def apply(self, sls: str = "main") -> dict[str, Result]:
        report = apply(self.session, Request(sls=(sls,)), self.library.hear)
        return {answer.chunk.id: answer.result for answer in report.answers}

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        self.session.load_pillar()
        return self.session.salt[name](*args, **kwargs)


MakeWorld = Callable[..., World]


@pytest.fixture
def world(tmp_path: Path) -> MakeWorld:
    """``world({path: text}, test=…)``; paths are of the tree."""

    def make(files: dict[str, str], **options: Any) -> World:
        (tmp_path / "tree").mkdir(exist_ok=True)
        for path, text in files.items():
            place = tmp_path / "tree" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        return World(tmp_path, **options)

    return make
