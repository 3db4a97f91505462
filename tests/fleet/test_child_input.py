"""What is written to a child that has ended, on the event loop of agents and on that of controllers."""

from __future__ import annotations

import asyncio
import signal
from asyncio.subprocess import PIPE
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from saltern.fleet.child_input import write_input
from saltern.fleet.controller.runner_processes import exchange
from saltern.fleet.pillar.process import FAILED, WorkerProcess
from saltern.fleet.reactor.calls import RunnerCall
from saltern.fleet.ssh.transport.process import start

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "agents": asyncio.new_event_loop,
    "controllers": uvloop.new_event_loop,
}
Run = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture(params=LOOPS)
def run(request: pytest.FixtureRequest) -> Run:
    def run(work: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
            runner.run(work)

    return run


def test_all_of_it_arrives(run: Run) -> None:
    async def scenario() -> None:
        process = await asyncio.create_subprocess_exec("wc", "-c", stdin=PIPE, stdout=PIPE)
        assert process.stdin is not None and process.stdout is not None
        for data in (b"x" * 100_000, memoryview(b"y" * 1000)):
            await write_input(process.stdin, data)
        process.stdin.close()
        assert await process.stdout.read() == b"101000\n"
        await process.wait()

    run(scenario())


def test_a_child_that_has_ended_breaks_the_pipe(run: Run) -> None:
    async def scenario() -> None:
        process = await asyncio.create_subprocess_exec("true", stdin=PIPE)
        assert process.stdin is not None
        await process.wait()
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            for _ in range(500):  # until the loop has seen it
                await write_input(process.stdin, b"x" * 100_000)
                await asyncio.sleep(0.01)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            await write_input(process.stdin, b"x")

    run(scenario())


def test_the_end_of_a_program_is_what_a_channel_reports(run: Run) -> None:
    async def scenario() -> None:
        channel = await start(["false"], {})
        for _ in range(20):
            await channel.write(b"x" * 100_000)
            await asyncio.sleep(0.01)
        assert (await channel.wait()).code == 1

    run(scenario())


def test_a_worker_that_was_killed_has_failed(run: Run) -> None:
    async def scenario() -> None:
        worker = await WorkerProcess.start("saltern.fleet.pillar.worker")
        worker._process.send_signal(signal.SIGKILL)
        await worker._process.wait()
        for _ in range(2):
            with pytest.raises(FAILED):
                await worker.exchange(b"x" * 1_000_000)
            await asyncio.sleep(0.05)
        await worker.end()

    run(scenario())


def test_a_runner_that_ends_without_a_word_has_no_answer(run: Run) -> None:
    async def scenario() -> None:
        call = RunnerCall(jid="1", controller="", kind="runner", function="a.b", args=["x" * 1_000_000])
        answer = await exchange(call, "", "saltern.no_such_module")
        assert answer.problem == "its process has ended with 1"

    run(scenario())
