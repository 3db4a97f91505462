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
from saltern.language.result import Outcome, Result
from saltern.modules.api.registry import Registry

SOURCE = ROOT / "src" / "saltern"


@pytest.fixture
def marker() -> ModuleType:
    """The module that the guide tells the reader to write."""
    text = (ROOT / "docs/guides/write-a-state-module.md").read_text(encoding="utf-8")
    code = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[0]
    module = ModuleType("marker")
    exec(compile(code, "marker.py", "exec", dont_inherit=True), module.__dict__)
    return module


@pytest.mark.parametrize(("test", "outcome"), [(True, Outcome.WOULD_CHANGE), (False, Outcome.OK)])
def test_the_module_of_the_guide_works(
    marker: ModuleType, tmp_path: Path, test: bool, outcome: Outcome
) -> None:
    path = str(tmp_path / "marked")
    result = _call(marker, tmp_path, path, test=test)
    assert (result.outcome, result.changes) == (outcome, {"new": path})
    assert (tmp_path / "marked").exists() is not test
    assert result.data == {"path": path, "exists": not test}


def test_the_module_of_the_guide_does_nothing_twice(marker: ModuleType, tmp_path: Path) -> None:
    _call(marker, tmp_path, str(tmp_path / "marked"))
    again = _call(marker, tmp_path, str(tmp_path / "marked"))
    assert (again.outcome, again.changes) == (Outcome.OK, {})


def test_the_module_of_the_guide_refuses(marker: ModuleType, tmp_path: Path) -> None:
    result = _call(marker, tmp_path, "marked")
    assert (result.outcome, result.comment) == (Outcome.FAILED, "'marked' is not an absolute path")
    failed = _call(marker, tmp_path, str(tmp_path / "no" / "marked"))
    assert failed.outcome is Outcome.FAILED
    assert failed.comment.endswith("No such file or directory")


def _call(marker: ModuleType, tmp_path: Path, name: str, *, test: bool = False) -> Result:
    settings = Settings(file_roots={"base": [str(tmp_path)]}, pillar_roots={}, test=test)
    session = Session(settings, registry=Registry(states={"marker": marker}))
    [answer] = single(session, "marker.present", name, {}).answers
    return answer.result


def test_the_walk_visits_every_folder() -> None:
    walk = (ROOT / "docs/internals/architecture.md").read_text(encoding="utf-8")
    folders = [folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()]
    assert [name for name in folders if f"`{name}/`" not in walk] == []


def test_every_file_the_walk_names_exists() -> None:
    walk = (ROOT / "docs/internals/architecture.md").read_text(encoding="utf-8")
    present = {file.name for file in SOURCE.rglob("*.py")} | {"filters/__init__.py"}
    named = re.findall(r"`([\w/]+\.py)`", walk)
    missing = [name for name in named if name not in present and not (SOURCE / name).exists()]
    assert [name for name in missing if not (ROOT / name).exists()] == []
