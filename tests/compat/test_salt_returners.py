"""Returners of an installed Salt, called by the worker of a job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.compat.test_salt_library import SITE, needs_salt

from saltern.fleet.agent.task import JobFolder, Task


@needs_salt
def test_a_returner_of_salts_library_gets_its_settings_from_the_configuration(tmp_path: Path) -> None:
    log, config = tmp_path / "events", tmp_path / "agent.yaml"
    places = {"file_roots": {"base": [str(tmp_path / "tree")]}, "cachedir": str(tmp_path / "cache")}
    config.write_text(json.dumps({**places, "id": "web1", "rawfile_json.filename": str(log)}))
    folder = JobFolder(str(tmp_path / "job"))
    names = ["rawfile_json", "no_such"]
    jid = "20260101000000000000"
    folder.prepare(Task(jid=jid, function="test.echo", args=["hi"], config=str(config), returners=names))
    done = subprocess.run(
        [sys.executable, "-m", "saltern.cli.worker", folder.path],
        env={**os.environ, "PYTHONPATH": str(SITE), "SALTERN_STATE_DIR": str(tmp_path / "state")},
        timeout=100,
        check=False,
    )
    outcome = folder.outcome()
    assert outcome is not None
    assert (done.returncode, outcome.code) == (0, 0)
    assert "rawfile_json" not in outcome.why
    assert "the returner 'no_such' failed: there is no file _returners/no_such.py" in outcome.why
    [line] = map(json.loads, log.read_text().splitlines())
    assert (line["id"], line["jid"], line["fun_args"], line["return"]) == ("web1", jid, ["hi"], "hi")
