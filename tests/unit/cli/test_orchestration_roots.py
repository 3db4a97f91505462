"""The roots of an orchestration are those of the controller that is asked, however it was named."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from saltern.cli.orchestration_fleet import _controller_options


@pytest.mark.parametrize("how", ["option", "address", "variable", "directory"])
def test_the_controller_is_known_by_its_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    (tmp_path / "controller.yaml").write_text("file_roots: {base: [/of/the/controller]}\n")
    socket = str(tmp_path / "controller.sock")
    args = SimpleNamespace(controller=None, directory=None, config=None)
    if how == "variable":
        monkeypatch.setenv("SALTERN_CONTROLLER", socket)
    elif how == "directory":
        args.directory = str(tmp_path)
    else:
        args.controller = socket if how == "option" else f"unix://{socket}"
    assert _controller_options(args)["file_roots"] == {"base": ["/of/the/controller"]}


def test_one_that_is_elsewhere_has_no_roots_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    args = SimpleNamespace(controller="https://controller.example", directory=None, config=None)
    assert "/of/the/controller" not in str(_controller_options(args))
