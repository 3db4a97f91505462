"""``virtualenv.managed``: real environments in a scratch directory, with wheels of our own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.modules.pip.wheels import make_wheel

from saltern.language.result import Outcome
from saltern.modules.api.params import BadArgument
from saltern.modules.functions import virtualenv as functions
from saltern.modules.states.virtualenv import managed

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def args(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    make_wheel(tmp_path / "wheels", "saltern_t_one", "1.0")
    return {
        "python": sys.executable,
        "venv_bin": "venv",
        "find_links": str(tmp_path / "wheels"),
        "no_index": True,
    }


def test_an_environment_is_made_with_its_packages(desk: Desk, args: dict[str, object]) -> None:
    result = desk.change(managed, desk.at("env"), pip_pkgs=["saltern-t-one"], **args)
    assert result.changes == {
        "new": f"Python {sys.version.split()[0]}",
        "packages": {"new": ["saltern-t-one==1.0"], "old": []},
    }
    assert result.data["python"] == f"Python {sys.version.split()[0]}"
    packages = result.data["packages"]
    assert isinstance(packages, dict)
    assert packages["saltern-t-one"] == "1.0"
    env = desk.at("env")
    assert functions.get_distribution_version(desk.context(), env, "saltern-t-one") == "1.0"
    assert functions.get_site_packages(desk.context(), env).startswith(env)

    foreseen = desk.foresee(managed, env, pip_pkgs="saltern-t-one", clear=True, **args)
    done = desk.call(managed, env, pip_pkgs="saltern-t-one", clear=True, **args)
    assert foreseen.changes == done.changes
    assert done.changes["cleared_packages"] == ["saltern-t-one==1.0"]


def test_requirements_are_kept_up(desk: Desk, args: dict[str, object]) -> None:
    desk.call(managed, desk.at("env"), **args)
    assert os.path.exists(desk.at("env/bin/python"))
    url = desk.source("req.txt", "saltern-t-one==1.0\n")
    result = desk.change(managed, desk.at("env"), requirements=url, **args)
    assert result.changes == {"packages": {"new": ["saltern-t-one==1.0"], "old": []}}


def test_bad_input_is_reported_plainly(desk: Desk, args: dict[str, object]) -> None:
    desk.put("full/x")
    assert "not a virtual environment" in desk.refusal(managed, desk.at("full"), **args)
    assert "absolute" in desk.refusal(managed, "env", **args)
    assert "not known" in desk.refusal(managed, desk.at("e"), **{**args, "venv_bin": "nonsense"})
    assert "cannot run" in desk.refusal(managed, desk.at("e"), **{**args, "python": "/none/python"})
    assert "not a requirement" in desk.refusal(managed, desk.at("e"), pip_pkgs=["-x"], **args)
    result = desk.foresee(managed, desk.at("e"), pip_pkgs=["saltern-t-none"], **args)
    assert result.outcome is Outcome.FAILED
    assert "saltern-t-none" in result.comment
    with pytest.raises(BadArgument, match="not a virtual environment"):
        functions.get_site_packages(desk.context(), desk.at("full"))
