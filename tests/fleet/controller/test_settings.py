"""controller.yaml: what it takes, and all of its mistakes at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from saltern.fleet.controller.doctor import examine
from saltern.fleet.controller.paths import controller_paths
from saltern.fleet.controller.setting_keys import KEYS
from saltern.fleet.controller.settings import ControllerSettings, load_settings
from saltern.language.diagnostics import OperationError


def settings_of(folder: Path, text: str) -> ControllerSettings:
    (folder / "controller.yaml").write_text(text)
    return load_settings(controller_paths(str(folder)))


def test_every_key_is_a_setting() -> None:
    assert {name.replace(".", "_") for name in KEYS} == set(ControllerSettings.__struct_fields__)


def test_without_a_file_all_is_by_default(tmp_path: Path) -> None:
    assert load_settings(controller_paths(str(tmp_path))) == ControllerSettings()


def test_keys_inside_of_others_are_read(tmp_path: Path) -> None:
    made = settings_of(
        tmp_path,
        "port: 4333\nnames: [a.example, 192.0.2.1]\nfile_roots: {base: /srv/salt, dev: [/a, /b]}\n"
        "retention: {jobs: {days: 3}, events: {rows: 1000}}\napi: {port: 4600}\n",
    )
    assert (made.port, made.names, made.api_port) == (4333, ("a.example", "192.0.2.1"), 4600)
    assert made.file_roots == {"base": ["/srv/salt"], "dev": ["/a", "/b"]}
    assert (made.limits["jobs"].days, made.limits["events"].rows) == (3, 1000)


def test_all_mistakes_are_reported_at_once_with_their_lines(tmp_path: Path) -> None:
    with pytest.raises(OperationError) as problem:
        settings_of(
            tmp_path,
            "port: many\ndatabse: x\ndatabase: mysql://x\nretention:\n  jobs:\n    days: -1\n"
            "file_roots: 3\nbus: http://x\napi: 7\nnames: []\nfleet: 'a b'\n",
        )
    found = {(one.where.line if one.where else 0, one.code) for one in problem.value.diagnostics}
    assert found == {(line, "controller-option") for line in (1, 2, 3, 6, 7, 8, 9, 10, 11)}
    assert "did you mean 'database'" in str(problem.value)


def test_the_doctor_reports_a_bad_configuration_and_a_new_place(tmp_path: Path) -> None:
    found = {one.check: one.level for one in examine(controller_paths(str(tmp_path)), now=1.0)}
    assert found["process"] == "warning"
    assert found["keys"] == "error"
    (tmp_path / "controller.yaml").write_text("port: many\n")
    assert [one.level for one in examine(controller_paths(str(tmp_path)), now=1.0)] == ["error"]
