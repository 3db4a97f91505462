"""The warm worker: it forks for jobs, learns what they import, and ends when it is idle."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import msgspec
import pytest
from tests.fleet.harness import run, until

from saltern.cli.warm import is_kept
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
        assert runner.folder("q").last_attempt() == 1
        await runner.warm.end()

    run(scenario())


def plain(tmp_path: Path) -> ProcessRunner:
    return ProcessRunner(str(tmp_path / "jobs"), wrap=lambda _name, command: list(command))


def change(tmp_path: Path, jid: str, *, again: bool = False) -> Task:
    """A job that leaves the number of the process that did it, and that of its parent."""
    name = f"echo $PPID $(cut -d' ' -f4 /proc/$PPID/stat) >> {tmp_path}/done"
    overrides = {"state_dir": f"{tmp_path}/state", "cachedir": f"{tmp_path}/cache", "id": "web1"}
    return Task(
        jid=jid,
        attempt=2 if again else 1,
        function="state.single",
        args=["cmd.run", name],
        command="single",
        again=again,
        overrides=overrides,
    )


def done(tmp_path: Path) -> list[list[int]]:
    lines = (tmp_path / "done").read_text().splitlines() if (tmp_path / "done").exists() else []
    return [[int(number) for number in line.split()] for line in lines]


def loaded(pid: int, name: str) -> bool:
    """True if the process has that shared library open."""
    return name in Path(f"/proc/{pid}/maps").read_text()


def test_changing_jobs_are_forks_and_leave_their_imports_to_the_next(tmp_path: Path) -> None:
    async def scenario() -> None:
        runner = plain(tmp_path)
        for jid in ("c1", "c2", "c3"):
            outcome = await runner.work(change(tmp_path, jid))
            assert outcome is not None, runner.folder(jid).text("err")
            assert outcome.code == 0, runner.folder(jid).text("err")
            if jid == "c1":
                assert not loaded(runner.warm.pid, "/binascii.")  # its own code is small until jobs come
        warm = runner.warm.pid
        assert [parent for _, parent in done(tmp_path)] == [warm] * 3
        assert len({worker for worker, _ in done(tmp_path)}) == 3
        assert loaded(warm, "/binascii.")
        await runner.close()

    run(scenario())


def test_a_later_attempt_is_a_program_of_its_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        runner = plain(tmp_path)
        await runner.work(change(tmp_path, "c1", again=True))
        assert [parent for _, parent in done(tmp_path)] == [os.getpid()]
        assert not runner.warm.pid
        await runner.close()

    run(scenario())


def test_a_fork_that_ends_before_it_has_taken_the_job_is_replaced_by_a_program(tmp_path: Path) -> None:
    class Lost(WarmWorker):
        async def fork(self, folder: str) -> int:
            return 2**22 + 1  # no process has this number

    async def scenario() -> None:
        runner = plain(tmp_path)
        runner.warm = Lost(runner._wrap)
        await runner.work(change(tmp_path, "c1"))
        assert [parent for _, parent in done(tmp_path)] == [os.getpid()]

    run(scenario())


def test_a_library_that_is_installed_ends_the_warm_worker(tmp_path: Path) -> None:
    """A library beside ours may be one that the process has loaded in another version."""
    place = tmp_path / "lib"
    shutil.copytree(Path(msgspec.__file__).parent, place / "msgspec")

    async def scenario() -> None:
        runner = plain(tmp_path)
        first = await runner.warm.fork(str(tmp_path / "no-job"))
        assert first
        (place / "new").mkdir()
        assert await runner.warm.fork(str(tmp_path / "no-job")) == 0
        await runner.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(place))
        run(scenario())


def test_modules_of_users_are_not_kept() -> None:
    kept = {
        name: is_kept(name) for name in ("saltern.modules.x", "yaml.cyaml", "json.decoder", "boto3", "my")
    }
    assert kept == {
        "saltern.modules.x": True,
        "yaml.cyaml": True,
        "json.decoder": True,
        "boto3": False,
        "my": False,
    }
