"""``grains``: in a grains file of our own, seen by the rest of the run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from msgspec.structs import replace

from saltern.config.settings import Settings
from saltern.engine.session import Session
from saltern.language.result import Outcome
from saltern.modules.functions import grains as functions
from saltern.modules.states.grains import absent, append, exists, list_absent, list_present, present

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk


@pytest.fixture
def file(desk: Desk) -> Path:
    """The grains file of the desk."""
    path = desk.scratch / "etc" / "grains"
    desk.run.settings = replace(desk.run.settings, grains_file=str(path))
    return path


def held(file: Path) -> object:
    return yaml.safe_load(file.read_text())


def test_a_grain_is_set_kept_and_seen(desk: Desk, file: Path) -> None:
    result = desk.change(present, "role", value="web")
    assert result.changes == {"role": "web"}
    assert result.data == {"name": "role", "value": "web", "path": str(file)}
    assert held(file) == {"role": "web"}
    assert desk.grains["role"] == "web"
    desk.change(present, "role", value="db")
    desk.change(present, "a:b:c", value=[1, {"x": None}])
    assert held(file) == {"role": "db", "a": {"b": {"c": [1, {"x": None}]}}}


def test_what_is_found_is_kept_beside_what_is_set(desk: Desk, file: Path) -> None:
    desk.grains["cloud"] = {"zone": "a", "id": 7}
    desk.change(present, "cloud:zone", value="b")
    assert desk.grains["cloud"] == {"zone": "b", "id": 7}


def test_lists_and_mappings_are_replaced_only_by_force(desk: Desk, file: Path) -> None:
    desk.call(present, "many", value=[1])
    desk.call(present, "one", value="x")
    assert "force" in desk.refusal(present, "many", value=2)
    assert "force" in desk.refusal(present, "one", value=[2])
    assert "force" in desk.refusal(present, "one:below", value=2)
    desk.change(present, "many", value=2, force=True)
    desk.change(present, "one:below", value=2, force=True)


def test_lists_grow_and_shrink(desk: Desk, file: Path) -> None:
    assert desk.change(list_present, "roles", value=["web", "db"]).changes == {"new": ["web", "db"]}
    assert desk.change(append, "roles", value="mail").changes == {"added": "mail"}
    assert desk.change(list_absent, "roles", value=["db", "none"]).changes == {"deleted": ["db"]}
    assert desk.grains["roles"] == ["web", "mail"]
    desk.call(present, "single", value="x")
    assert "not a valid list" in desk.refusal(append, "single", value="y")
    assert "not a valid list" in desk.refusal(list_present, "single", value="y")
    desk.change(append, "single", value="y", convert=True)
    assert desk.grains["single"] == ["x", "y"]
    assert "does not exist" in desk.refusal(append, "none", value="y")


def test_grains_go(desk: Desk, file: Path) -> None:
    desk.call(present, "a", value=1)
    desk.call(present, "b:c", value=2)
    assert desk.change(absent, "a").changes == {"grain": "a", "value": None}
    assert held(file) == {"a": None, "b": {"c": 2}}
    assert desk.change(absent, "a", destructive=True).changes == {"deleted": "a"}
    assert "force" in desk.refusal(absent, "b")
    desk.change(absent, "b:c", destructive=True)
    assert held(file) == {"b": {}}
    assert "a" not in desk.grains
    desk.same(absent, "none")


def test_a_grain_that_comes_from_elsewhere_cannot_be_removed(desk: Desk, file: Path) -> None:
    desk.grains["os"] = "Debian"
    assert "from elsewhere" in desk.refusal(absent, "os", destructive=True)


def test_exists_only_looks(desk: Desk, file: Path) -> None:
    assert "does not exist" in desk.refusal(exists, "role")
    desk.grains["role"] = None
    desk.same(exists, "role")


def test_bad_files_and_names_are_reported_plainly(desk: Desk, file: Path) -> None:
    assert "not the name" in desk.refusal(present, "a::b", value=1)
    file.parent.mkdir()
    file.write_text("- a list\n")
    assert "mapping" in desk.refusal(present, "a", value=1)


def test_functions_set_and_remove(desk: Desk, file: Path) -> None:
    ctx = desk.context()
    assert functions.setval(ctx, "a", 1) == {"a": 1}
    assert functions.set_(ctx, "b:c", 2)["changes"] == {"b:c": 2}
    assert functions.append(ctx, "l", "x")["changes"] == {"added": "x"}
    assert functions.remove(ctx, "l", "x")["changes"] == {"deleted": ["x"]}
    assert functions.delval(ctx, "a")["result"] is True
    assert functions.delkey(ctx, "a")["changes"] == {"deleted": "a"}
    assert held(file) == {"b": {"c": 2}, "l": []}


def test_a_session_sees_the_new_grain_at_once(tmp_path: Path) -> None:
    settings = Settings(grains_file=str(tmp_path / "grains"), id="here")
    (tmp_path / "grains").write_text("old: 1\n")
    session = Session(settings)
    context = session.salt._context
    assert context is not None
    assert present(context, "role", value="web").outcome is Outcome.OK
    assert (session.grains["role"], session.grains["old"]) == ("web", 1)
    assert absent(context, "role", destructive=True).outcome is Outcome.OK
    assert "role" not in session.grains
