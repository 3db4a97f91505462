"""``pip``: the real pip of an environment of our own, with wheels of our own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.kit import chunk
from tests.modules.pip.wheels import make_wheel

from saltern.language.result import Outcome
from saltern.modules.functions import pip as functions
from saltern.modules.lib.pip.command import split
from saltern.modules.states.pip import mod_aggregate
from saltern.modules.states.pip.installed import installed
from saltern.modules.states.pip.removed import removed, uptodate

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment and a directory of wheels, made once."""
    place = tmp_path_factory.mktemp("pip")
    subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
    for version in ("1.0", "2.0"):
        make_wheel(place / "wheels", "saltern_t_one", version, needs="saltern-t-two")
    make_wheel(place / "wheels", "saltern_t_two", "0.1")
    return place


@pytest.fixture
def where(base: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Arguments for a clean environment that sees only our wheels."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    for path in base.glob("venv/lib/*/site-packages/saltern_t_*"):  # pip itself would take half a second
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return {"bin_env": str(base / "venv"), "find_links": str(base / "wheels"), "no_index": True}


def test_a_package_comes_with_what_it_needs(desk: Desk, where: dict[str, object]) -> None:
    result = desk.change(installed, "saltern_t_one", **where)
    assert result.changes == {"saltern-t-one==2.0": "Installed", "saltern-t-two==0.1": "Installed"}
    assert result.data["packages"] == {"saltern-t-one": "2.0", "saltern-t-two": "0.1"}
    assert desk.same(installed, "saltern.t.one", **where).data["packages"] == {"saltern-t-one": "2.0"}


def test_versions_are_changed_when_they_do_not_fit(desk: Desk, where: dict[str, object]) -> None:
    assert desk.call(installed, "saltern-t-one == 1.0", **where).changes
    desk.same(installed, "saltern-t-one <= 1.5, > 0.9", **where)
    desk.same(installed, "x", pkgs=[{"saltern-t-one": "1.0"}, "saltern-t-two"], **where)
    result = desk.call(installed, "saltern-t-one>=2", **where)
    assert result.changes == {"saltern-t-one==2.0": "Installed"}


def test_upgrade_takes_the_newest_and_then_rests(desk: Desk, where: dict[str, object]) -> None:
    desk.call(installed, "saltern-t-one==1.0", **where)
    foreseen = desk.foresee(installed, "saltern-t-one", upgrade=True, **where)
    done = desk.call(installed, "saltern-t-one", upgrade=True, **where)
    assert foreseen.changes == done.changes == {"saltern-t-one==2.0": "Installed"}
    desk.same(installed, "saltern-t-one", upgrade=True, **where)


def test_force_reinstall_is_a_change_every_time(desk: Desk, where: dict[str, object]) -> None:
    desk.call(installed, "saltern-t-two", **where)
    args = {**where, "force_reinstall": True}
    assert desk.foresee(installed, "saltern-t-two", **args).changes == {"saltern-t-two==0.1": "Installed"}
    assert desk.call(installed, "saltern-t-two", **args).changes == {"saltern-t-two==0.1": "Installed"}


def test_requirements_come_from_files_and_the_tree(desk: Desk, where: dict[str, object]) -> None:
    path = desk.put("req.txt", "# two\nsaltern-t-two\n")
    assert desk.foresee(installed, "x", requirements=path, **where).changes
    assert desk.call(installed, "x", requirements=path, **where).changes == {
        "saltern-t-two==0.1": "Installed"
    }
    url = desk.source("req.txt", "saltern-t-two\n")
    desk.same(installed, "x", requirements=url, **where)
    assert desk.call(removed, "x", requirements=path, bin_env=where["bin_env"]).changes == {
        "saltern-t-two": "Removed"
    }


def test_packages_go(desk: Desk, where: dict[str, object]) -> None:
    desk.call(installed, "saltern-t-two", **where)
    result = desk.change(removed, "Saltern_T_Two", bin_env=where["bin_env"])
    assert result.changes == {"saltern-t-two": "Removed"}


def test_uptodate_upgrades_what_is_old(
    desk: Desk, where: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.call(installed, "saltern-t-one==1.0", **where)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(where["find_links"]))
    result = desk.change(uptodate, "all", bin_env=where["bin_env"])
    assert result.changes == {"saltern-t-one": {"old": "1.0", "new": "2.0"}}


def test_what_cannot_be_had_is_reported_by_pip(desk: Desk, where: dict[str, object]) -> None:
    for call in (desk.foresee, desk.call):
        result = call(installed, "saltern-t-none", **where)
        assert result.outcome is Outcome.FAILED
        assert "saltern-t-none" in result.comment
        assert "Traceback" not in result.comment


def test_bad_input_is_reported_plainly(desk: Desk) -> None:
    assert "does not exist" in desk.refusal(installed, "x", bin_env="/none")
    assert desk.foresee(installed, "x", bin_env="/none").changes == {"x": "Installed"}
    assert "neither a virtual environment" in desk.refusal(installed, "x", bin_env=desk.put("f"))
    assert "not a virtual environment" in desk.refusal(installed, "x", bin_env=str(desk.states))
    assert "not a requirement" in desk.refusal(installed, "--index-url=http://evil")
    assert "empty list" in desk.refusal(installed, "x", pkgs=[])
    assert "not the name" in desk.refusal(removed, "http://x/y.whl")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Django", "django"),
        ("a.b_c[extra,more]>=1,<2; python_version > '3'", "a-b-c"),
        ("git+https://host/x.git#egg=x", ""),
        ("./local", ""),
        ("x @ https://host/x.whl", ""),
        ("https://host/x.whl", ""),
    ],
)
def test_requirements_are_read(text: str, name: str) -> None:
    assert split(text)[0] == name


def test_states_for_one_place_are_done_in_one_call(desk: Desk) -> None:
    one = chunk("a", state="pip", fun="installed", bin_env="/v")
    two = chunk("b", state="pip", fun="installed", pkgs=["b", "c"], bin_env="/v")
    other = chunk("d", state="pip", fun="installed", bin_env="/w")
    made = mod_aggregate(desk.context(), one, [one, two, other], {})
    assert made.args["pkgs"] == ["a", "b", "c"]


def test_functions_tell_of_packages(desk: Desk, where: dict[str, object]) -> None:
    ctx, env = desk.context(), str(where["bin_env"])
    desk.call(installed, "saltern-t-two", **where)
    assert functions.list_(ctx, prefix="saltern-t", bin_env=env) == {"saltern-t-two": "0.1"}
    assert functions.is_installed(ctx, "saltern_t_two", bin_env=env) is True
    assert "saltern-t-two==0.1" in [line.replace("_", "-") for line in functions.freeze(ctx, bin_env=env)]
    assert functions.version(ctx, env)[0].isdigit()
    assert functions.uninstall(ctx, "saltern-t-two", bin_env=env)["retcode"] == 0
    done = functions.install(
        ctx, "saltern-t-two", bin_env=env, no_index=True, find_links=str(where["find_links"])
    )
    assert done["retcode"] == 0


@pytest.mark.parametrize("listed", [True, False])
def test_several_files_of_requirements(desk: Desk, where: dict[str, object], listed: bool) -> None:
    ctx, env = desk.context(), str(where["bin_env"])
    files = [desk.put("one.txt", "saltern-t-one==1.0\n"), desk.put("two.txt", "saltern-t-two\n")]
    given = files if listed else ",".join(files)
    done = functions.install(
        ctx, requirements=given, bin_env=env, no_index=True, find_links=str(where["find_links"])
    )
    assert done["retcode"] == 0, done
    found = functions.list_(ctx, prefix="saltern-t", bin_env=env)
    assert found == {"saltern-t-one": "1.0", "saltern-t-two": "0.1"}
    assert functions.uninstall(ctx, requirements=given, bin_env=env)["retcode"] == 0
    assert functions.list_(ctx, prefix="saltern-t", bin_env=env) == {}


def test_all_versions_that_are_offered(
    desk: Desk, where: dict[str, object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for version in ("1.0", "1.5b1", "2.0a1", "2.0rc1", "10.0"):
        make_wheel(tmp_path / "more", "saltern_t_many", version)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "more"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    ctx, env = desk.context(), str(where["bin_env"])
    assert functions.list_all_versions(ctx, "saltern-t-many", env) == ["1.0", "10.0"]
    every = functions.list_all_versions(ctx, "saltern-t-many", env, True, True, True)
    assert every == ["1.0", "1.5b1", "2.0a1", "2.0rc1", "10.0"]
    assert functions.list_all_versions(ctx, "saltern-t-many", env, include_rc=True) == [
        "1.0",
        "2.0rc1",
        "10.0",
    ]
    assert functions.list_all_versions(ctx, "saltern-t-none", env) is None
