"""Returners of an installed Salt, called by the worker of a job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.compat.test_salt_library import SITE, needs_salt

from saltern.fleet.agent.task import JobFolder, Task


def work(folder: JobFolder, state: Path) -> int:
    """The exit code of the worker of a job, which has Salt's library."""
    return subprocess.run(
        [sys.executable, "-m", "saltern.cli.worker", folder.path],
        env={**os.environ, "PYTHONPATH": str(SITE), "SALTERN_STATE_DIR": str(state)},
        timeout=100,
        check=False,
    ).returncode


@needs_salt
def test_a_returner_of_salts_library_gets_its_settings_from_the_configuration(tmp_path: Path) -> None:
    log, config = tmp_path / "events", tmp_path / "agent.yaml"
    places = {"file_roots": {"base": [str(tmp_path / "tree")]}, "cachedir": str(tmp_path / "cache")}
    config.write_text(json.dumps({**places, "id": "web1", "rawfile_json.filename": str(log)}))
    folder = JobFolder(str(tmp_path / "job"))
    names = ["rawfile_json", "no_such"]
    jid = "20260101000000000000"
    folder.prepare(Task(jid=jid, function="test.echo", args=["hi"], config=str(config), returners=names))
    code = work(folder, tmp_path / "state")
    outcome = folder.outcome()
    assert outcome is not None
    assert (code, outcome.code) == (0, 0)
    assert "rawfile_json" not in outcome.why
    assert "the returner 'no_such' failed: there is no file _returners/no_such.py" in outcome.why
    [line] = map(json.loads, log.read_text().splitlines())
    assert (line["id"], line["jid"], line["fun_args"], line["return"]) == ("web1", jid, ["hi"], "hi")


SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "those of the configuration": ({}, "usual"),
    "those below another name": ({"ret_config": "second"}, "second"),
    "those of the job": ({"ret_kwargs": {"filename": "{place}/third"}}, "third"),
    "those of the job win": ({"ret_config": "second", "ret_kwargs": {"filename": "{place}/third"}}, "third"),
}


@needs_salt
@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_a_job_reach_a_returner_of_salts_library(name: str, tmp_path: Path) -> None:
    options, expected = SETTINGS[name]
    options = json.loads(json.dumps(options).replace("{place}", str(tmp_path)))
    settings = {
        "id": "web1",
        "file_roots": {"base": [str(tmp_path / "tree")]},
        "cachedir": str(tmp_path / "cache"),
        "rawfile_json.filename": f"{tmp_path}/usual",
        "second.rawfile_json.filename": f"{tmp_path}/second",
    }
    config = tmp_path / "agent.yaml"
    config.write_text(json.dumps(settings))
    folder = JobFolder(str(tmp_path / "job"))
    task = Task(jid="20260101000000000000", function="test.echo", args=["hi"], config=str(config))
    folder.prepare(replace(task, returners=["rawfile_json"], return_options=options))
    assert work(folder, tmp_path / "state") == 0
    outcome = folder.outcome()
    assert outcome is not None and outcome.why == ""
    written = [name for name in ("usual", "second", "third") if (tmp_path / name).exists()]
    assert written == [expected]
    assert json.loads((tmp_path / expected).read_text())["return"] == "hi"


@needs_salt
def test_a_returner_of_salts_library_is_found_by_the_name_that_it_gives_itself(tmp_path: Path) -> None:
    """Its file is ``highstate_return.py``."""
    report, config = tmp_path / "report", tmp_path / "agent.yaml"
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "web.sls").write_text("a:\n  test.succeed_with_changes\n")
    settings = {
        "id": "web1",
        "file_roots": {"base": [str(tmp_path / "tree")]},
        "cachedir": str(tmp_path / "cache"),
    }
    wanted = {"report_everything": True, "report_delivery": "file", "file_output": str(report)}
    config.write_text(json.dumps(settings))
    folder = JobFolder(str(tmp_path / "job"))
    task = Task(jid="20260101000000000000", function="state.apply", args=["web"], config=str(config))
    task = replace(task, command="apply", returners=["highstate"])
    folder.prepare(replace(task, return_options={"ret_kwargs": wanted}))
    work(folder, tmp_path / "state")
    outcome = folder.outcome()
    assert outcome is not None and outcome.why == ""
    assert "succeed_with_changes" in report.read_text()
