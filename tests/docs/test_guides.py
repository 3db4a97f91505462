"""What the guides and the walk say about the code is so."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from tools.examples import ROOT

from saltern.config.settings import Settings
from saltern.engine.session import Session
from saltern.engine.single import single
from saltern.language.result import Outcome
from saltern.modules.api.registry import Registry

SOURCE = ROOT / "src" / "saltern"


@pytest.fixture
def marker() -> ModuleType:
    """The module that the guide tells the reader to write."""
    text = (ROOT / "docs/guides/write-a-state-module.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    module = ModuleType("marker")
    exec(compile(code, "marker.py", "exec", dont_inherit=True), module.__dict__)
    return module


@pytest.mark.parametrize(("test", "outcome"), [(True, Outcome.WOULD_CHANGE), (False, Outcome.OK)])
def test_the_module_of_the_guide_works(
    marker: ModuleType, tmp_path: Path, test: bool, outcome: Outcome
) -> None:
    settings = Settings(file_roots={"base": [str(tmp_path)]}, pillar_roots={}, test=test)
    session = Session(settings, registry=Registry(states={"marker": marker}))
    report = single(session, "marker.present", str(tmp_path / "marked"), {})
    assert [answer.result.outcome for answer in report.answers] == [outcome]
    assert (tmp_path / "marked").exists() is not test


def test_the_walk_visits_every_folder() -> None:
    walk = (ROOT / "docs/internals/architecture.md").read_text(encoding="utf-8")
    folders = [folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()]
    assert [name for name in folders if f"`{name}/`" not in walk] == []


def test_every_file_the_walk_names_exists() -> None:
    walk = (ROOT / "docs/internals/architecture.md").read_text(encoding="utf-8")
    present = {file.name for file in SOURCE.rglob("*.py")} | {"filters/__init__.py"}
    named = re.findall(r"`([\w/]+\.py)`", walk)
    assert [name for name in named if name not in present and not (ROOT / name).exists()] == []
