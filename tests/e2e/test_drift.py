"""``saltern drift``: what differs, since when, and the timer that looks."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from saltern.cli.main import run
from saltern.planfile.drift import compare, known_since
from saltern.report.forecast import Foreseen
from saltern.system import drift_timer

Out = pytest.CaptureFixture[str]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "states").mkdir()
    (tmp_path / "states/web.sls").write_text(f"{tmp_path}/a.txt:\n  file.managed:\n    - contents: hello\n")
    (tmp_path / "saltern.yaml").write_text(f"file_roots: {{base: [states]}}\nstate_dir: {tmp_path}/state\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SALTERN_STATE_DIR", f"{tmp_path}/state")
    return tmp_path


def test_a_machine_that_is_as_described_has_none(tree: Path, capsys: Out) -> None:
    (tree / "a.txt").write_text("hello\n")
    assert run(["drift", "web"]) == 0
    assert "No drift: 1 state is as described (web" in capsys.readouterr().out


def test_drift_has_an_exit_code_of_its_own_and_is_kept(tree: Path, capsys: Out) -> None:
    (tree / "a.txt").write_text("other\n")
    assert run(["drift", "web", "--out", "json"]) == 4
    first = json.loads(capsys.readouterr().out)["local"]
    assert [(one["id"], one["kind"]) for one in first["different"]] == [(f"{tree}/a.txt", "change")]
    assert (tree / "a.txt").read_text() == "other\n"
    assert run(["drift", "web", "--out", "json"]) == 4
    second = json.loads(capsys.readouterr().out)["local"]
    assert second["at"] > first["at"]
    assert second["different"][0]["since"] == first["at"]
    assert run(["drift", "--last"]) == 4
    assert "Drift: 1 of 1 state (" in capsys.readouterr().out


def test_a_state_that_would_fail_is_a_failure(tree: Path) -> None:
    (tree / "states/web.sls").write_text("x:\n  test.fail_without_changes: []\n")
    assert run(["drift", "web"]) == 2


def test_without_a_comparison_there_is_no_last_one(tree: Path, capsys: Out) -> None:
    assert run(["drift", "--last"]) == 1
    assert "no comparison has been made" in capsys.readouterr().err


def row(tag: str, kind: str) -> Foreseen:
    return Foreseen(path=tag, tag=tag, kind=kind, function="file.managed", id=tag, name=tag, where="x.sls:1")


def test_a_difference_that_went_away_and_came_back_is_new() -> None:
    first = compare([row("a", "change")], {}, asked="web", now=1.0)
    gone = compare([row("a", "keep")], known_since(first, "web"), asked="web", now=2.0)
    back = compare([row("a", "change")], known_since(gone, "web"), asked="web", now=3.0)
    assert [one.since for one in back.different] == [3.0]


def test_another_question_has_another_past() -> None:
    first = compare([row("a", "change")], {}, asked="web", now=1.0)
    assert known_since(first, "db") == {}


def root_with_systemd(tmp_path: Path) -> Path:
    place = tmp_path / "root" / "usr/lib/systemd"
    place.mkdir(parents=True)
    (place / "systemd").touch()
    return tmp_path / "root"


def test_systemd_gets_a_timer(tmp_path: Path, capsys: Out) -> None:
    root = root_with_systemd(tmp_path)
    config = tmp_path / "my config.yaml"
    words = ["drift", "web", "--install-timer", "daily", "--root", str(root), "--config", str(config)]
    assert run(words) == 0
    units = root / "etc/systemd/system"
    assert "OnCalendar=daily" in (units / "saltern-drift.timer").read_text()
    assert f'saltern drift web --config "{config}"' in (units / "saltern-drift.service").read_text()
    if shutil.which("systemd-analyze"):
        unit = str(units / "saltern-drift.service")
        done = subprocess.run(
            ["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False
        )
        assert "saltern-drift" not in done.stderr, done.stderr
    assert run(words) == 0
    assert "installed already" in capsys.readouterr().out
    assert run(["drift", "--remove-timer", "--root", str(root)]) == 0
    assert not list(root.rglob("saltern-drift*"))


def test_cron_gets_a_line_where_there_is_no_systemd(tmp_path: Path) -> None:
    assert run(["drift", "--install-timer", "hourly", "--root", str(tmp_path)]) == 0
    text = (tmp_path / "etc/cron.d/saltern-drift").read_text()
    assert text.splitlines()[-1].startswith("@hourly root ")
    assert text.endswith(" -m saltern drift\n")


@pytest.mark.parametrize("when", ["sometimes", "*:0/15", "daily\nroot rm"])
def test_cron_takes_only_what_it_understands(tmp_path: Path, when: str, capsys: Out) -> None:
    assert run(["drift", "--install-timer", when, "--root", str(tmp_path)]) == 1
    assert "cron needs one of hourly, daily, weekly" in capsys.readouterr().err
    assert not (tmp_path / "etc").exists()


def test_a_calendar_expression_of_two_lines_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one line"):
        drift_timer.pieces(str(root_with_systemd(tmp_path)), "daily\nExecStart=x")
