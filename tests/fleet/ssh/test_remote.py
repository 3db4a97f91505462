"""The side of a session that runs on the host, where several sessions may meet over one job."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from saltern.fleet.ssh.remote.questions import QuestionSocket

# Begins one job several times, as sessions do that follow each other quickly.
BEGIN = """
import sys
from saltern.fleet.agent.task import JobFolder, Task
from saltern.fleet.ssh.remote.work import begin
folder, state, mark = sys.argv[1:]
job = JobFolder(folder)
for attempt in (1, 1, 2, 3):
    options = {"state_dir": state, "file_roots": {"base": [state]}, "pillar_roots": {"base": [state]}}
    words = [f"echo x >> {mark}"]
    begin(job, Task(jid="j", attempt=attempt, function="cmd.run", args=words, overrides=options), 0o22)
    assert job.lock.holder() or job.outcome(), "no worker holds the job, and none has done it"
while job.outcome() is None:
    pass
print(job.outcome().attempt, job.outcome().code)
"""


def test_a_job_that_several_sessions_begin_is_done_once(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    words = [str(tmp_path / "job"), str(tmp_path / "state"), str(mark)]
    done = subprocess.run(
        [sys.executable, "-c", BEGIN, *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "1 0\n", done.stderr
    assert mark.read_text() == "x\n"


def test_a_session_that_ends_late_leaves_the_socket_of_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "job.sock"
    first = QuestionSocket(str(path), lambda question: question)
    second = QuestionSocket(str(path), lambda question: question)
    first.close()
    assert path.exists()
    second.close()
    assert not path.exists()
