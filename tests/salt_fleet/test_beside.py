"""saltern beside a minion (``salt_minion``): the two never apply states at once, and share the work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.salt_fleet.conftest import Salt
from tests.salt_fleet.test_apply import wait_until

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("salt-fleet")]


@pytest.fixture
def command(fleet: Salt, tmp_path: Path) -> list[str]:
    """``saltern apply`` with the configuration of an agent beside web1, and states of its own."""
    (tmp_path / "saltern.yaml").write_text(
        f"id: web1\nfile_roots: {{base: [{tmp_path}]}}\nstate_dir: {tmp_path}/runs\n"
        f"salt_minion: {fleet.place}/web1/var/cache/salt/minion\n"
    )
    return [sys.executable, "-m", "saltern", "apply", "--config", str(tmp_path / "saltern.yaml")]


def held(place: Path, name: str) -> str:
    """A state file that is at work until a file is there."""
    run = f"touch {place}/{name}-begun; until test -e {place}/{name}-go; do sleep 0.1; done"
    return f"{name}:\n  cmd.run: [{{name: '{run}'}}]\n"


def test_a_run_waits_for_the_minion(fleet: Salt, command: list[str], tmp_path: Path) -> None:
    fleet.write("minions.sls", held(tmp_path, "minions"))
    (tmp_path / "own.sls").write_text(f"own:\n  file.touch: [{{name: {tmp_path}/own-done}}]\n")
    with fleet.begun("web1", "state.apply", "minions") as job:
        wait_until((tmp_path / "minions-begun").exists)
        refused = subprocess.run(
            [*command, "own", "--queue", "0"], capture_output=True, text=True, check=False
        )
        assert refused.returncode == 1 and "applies states: state.apply of job" in refused.stderr
        with subprocess.Popen([*command, "own"], stderr=subprocess.PIPE, text=True) as waiting:
            try:
                assert waiting.stderr is not None
                assert "waiting for Salt: state.apply of job" in waiting.stderr.readline()
                assert not (tmp_path / "own-done").exists()
                (tmp_path / "minions-go").touch()
                waiting.communicate()
            finally:
                waiting.kill()
        job.communicate()
    assert waiting.returncode == 0 and (tmp_path / "own-done").exists()


def test_the_minion_refuses_while_a_run_is_at_work(fleet: Salt, command: list[str], tmp_path: Path) -> None:
    (tmp_path / "ours.sls").write_text(held(tmp_path, "ours"))
    fleet.write("quick.sls", "quick:\n  test.nop: []\n")
    with subprocess.Popen([*command, "ours"], stdout=subprocess.DEVNULL) as run:
        try:
            wait_until((tmp_path / "ours-begun").exists)
            for function in ("state.apply", "saltern.apply"):
                answer = fleet.details("web1", function, "quick")
                assert "state.saltern_apply" in answer["ret"][0] and answer["retcode"] == 1
            (tmp_path / "ours-go").touch()
            run.wait()
        finally:
            run.kill()
    assert run.returncode == 0
    assert isinstance(fleet.ask("web1", "state.apply", "quick")["web1"], dict)


def test_one_state_file_is_taken_over(fleet: Salt, command: list[str], tmp_path: Path) -> None:
    """Out of the top file of Salt and into that of saltern: each applies its own, and neither the other's."""
    for name in ("kept", "taken"):
        fleet.write(f"{name}.sls", f"{name}:\n  test.nop: []\n")
    (tmp_path / "taken.sls").write_text("taken:\n  test.nop: []\n")
    fleet.write("top.sls", "base:\n  '*': [kept]\n")
    (tmp_path / "top.sls").write_text("base:\n  'web*': [taken]\n")
    try:
        theirs = fleet.ask("web1", "state.apply")["web1"]
    finally:
        (fleet.place / "states" / "top.sls").unlink()
    ours = subprocess.run([*command, "--out", "quiet"], capture_output=True, text=True, check=False)
    shown = subprocess.run(
        [*command[:3], "show", "top", *command[4:]], capture_output=True, text=True, check=False
    )
    assert [state["__id__"] for state in theirs.values()] == ["kept"]
    assert ours.returncode == 0 and "taken" in shown.stdout and "kept" not in shown.stdout
