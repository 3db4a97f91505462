"""The warm worker: it forks for questions, ends when it is idle, and is replaced when it is gone."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.fleet.harness import run, until

from saltern.fleet.agent.runner import ProcessRunner
from saltern.fleet.agent.task import PART, Task
from saltern.fleet.agent.warm import WarmWorker


def question(jid: str, *args: object) -> Task:
    return Task(jid=jid, function="test.echo", args=list(args), command="call", asks=True)


def test_questions_share_one_process_that_ends_when_idle(tmp_path: Path) -> None:
    async def scenario() -> None:
        runner = ProcessRunner(str(tmp_path), wrap=lambda _name, command: list(command))
        runner.warm = WarmWorker(runner._wrap, idle=0.5)
        outcome = await runner.work(question("q1", "a"))
        assert outcome is not None, runner.folder("q1").text("err")
        assert (outcome.code, outcome.parts) == (0, 1)
        assert Path(runner.folder("q1").file(PART.format(0))).read_bytes() == b'"a"'
        first = runner.warm.pid
        assert first
        await runner.work(question("q2", "b"))
        assert runner.warm.pid == first
        await until(lambda: not runner.warm.pid)
        assert not os.path.exists(f"/proc/{first}")  # not even as a zombie
        again = await runner.work(question("q3", "c"))
        assert again is not None
        os.kill(runner.warm.pid, signal.SIGKILL)
        after = await runner.work(question("q4", "d"))
        assert after is not None
        assert after.code == 0
        await runner.warm.end()

    run(scenario())


def test_a_job_is_taken_by_one_worker_for_each_attempt(tmp_path: Path) -> None:
    async def scenario() -> None:
        runner = ProcessRunner(str(tmp_path), wrap=lambda _name, command: list(command))
        first = await runner.work(question("q", "a"))
        assert first is not None
        late = await runner.work(question("q", "b"))  # the same attempt: it does nothing
        assert late is None
        assert runner.folder("q").begun() == 1
        await runner.warm.end()

    run(scenario())
