"""Returners: each system gives what a job came to to those that the job names."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.agent.standin import AgentProcess, one_agent
from tests.fleet.harness import run, until

from saltern.fleet.agent.intake import denied_by
from saltern.fleet.agent.task import JobLock
from saltern.fleet.protocol.messages import Job
from saltern.language.returner_names import returner_names

ID = "web1.example"
FILE_LOG = '''"""Appends each return to a file that the pillar names."""

import json


def returner(ret):
    with open(__salt__["pillar.get"]("file_log"), "a") as log:
        log.write(json.dumps(ret) + "\\n")
'''
BROKEN = 'def returner(ret):\n    raise ValueError("no room for " + ret["jid"])\n'
SLOW = """import time


def returner(ret):
    with open(__salt__["pillar.get"]("file_log") + ".slow", "a") as log:
        log.write(ret["jid"] + "\\n")
    time.sleep(3600)
"""


def prepare(agent: AgentProcess, states: Path, log: Path) -> None:
    """A tree with returners, and pillar that says where one of them writes."""
    (states / "_returners").mkdir()
    for name, text in (("file_log", FILE_LOG), ("broken", BROKEN), ("slow", SLOW)):
        (states / "_returners" / f"{name}.py").write_text(text)
    pillar = states.parent / "pillar"
    pillar.mkdir()
    (pillar / "top.sls").write_text("base:\n  '*':\n    - log\n")
    (pillar / "log.sls").write_text(f"file_log: {log}\n")
    roots = {"file_roots": {"base": [str(states)]}, "pillar_roots": {"base": [str(pillar)]}}
    (agent.folder / "agent.yaml").write_text(json.dumps(roots))


def read(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


@pytest.mark.parametrize(
    ("given", "names"),
    [(None, []), ("", []), ("a", ["a"]), ("a, b,a", ["a", "b"]), (["b", "a,c"], ["b", "a", "c"])],
)
def test_names_are_a_list_or_a_text_with_commas(given: object, names: list[str]) -> None:
    assert returner_names(given) == names


def test_the_deny_list_of_a_machine_can_name_them() -> None:
    job = Job(jid="20260101000000000000", function="test.echo", returners=["mysql"])
    assert denied_by(job, ("mysql.returner",)) == "mysql.returner"
    assert denied_by(job, ("*.returner",))
    assert not denied_by(job, ("smtp.returner",))


@pytest.mark.slow
def test_the_system_calls_each_with_the_return_of_the_job_and_none_fails_it(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, agent, states):
            prepare(agent, states, log)
            (states / "web.sls").write_text("a:\n  test.fail_without_changes\n")

            ping = await controller.send(ID, "test.ping", returners=["file_log"])
            assert (await controller.returned(ID, ping)).status == "returned"
            assert controller.value(ID, ping) is True
            assert read(log) == [
                {"id": ID, "jid": ping, "fun": "test.ping", "fun_args": [], "return": True}
                | {"retcode": 0, "success": True}
            ]

            names = ["broken", "absent", "file_log"]
            echo = await controller.send(ID, "test.arg", "hi", kwargs={"k": 1}, returners=names)
            done = await controller.returned(ID, echo)
            assert (done.status, done.exit_code) == ("returned", 0)
            assert f"the returner 'broken' failed: ValueError: no room for {echo}" in done.why
            assert "the returner 'absent' failed: there is no file _returners/absent.py" in done.why
            assert read(log)[-1]["fun_args"] == ["hi", {"__kwarg__": True, "k": 1}]

            wrong = await controller.send(ID, "state.apply", "web", returners=["file_log"])
            assert (await controller.returned(ID, wrong)).status == "failed"
            last = read(log)[-1]
            assert (last["jid"], last["success"], last["retcode"], last["out"]) == (
                wrong,
                False,
                2,
                "highstate",
            )
            assert [one["result"] for one in last["return"].values()] == [False]

            settings = {"ret_config": "second", "ret_kwargs": {"host": "logs"}, "id": "another"}
            given = await controller.send(ID, "test.ping", returners=["file_log"], return_options=settings)
            assert (await controller.returned(ID, given)).status == "returned"
            last = read(log)[-1]
            assert (last["id"], last["ret_config"], last["ret_kwargs"]) == (ID, "second", {"host": "logs"})

            missing = await controller.send(ID, "no.function", returners=["file_log"])
            assert (await controller.returned(ID, missing)).status == "failed"
            assert "no.function" in read(log)[-1]["return"]
            assert [one["jid"] for one in read(log)] == [ping, echo, wrong, given, missing]

    run(scenario())


@pytest.mark.slow
def test_scheduled_jobs_have_returners_of_their_own_and_those_of_all_jobs(tmp_path: Path) -> None:
    """Also one whose return no controller gets."""
    log = tmp_path / "log"
    schedule = {
        "often": {
            "function": "test.echo",
            "args": ["hi"],
            "hours": 1,
            "run_on_start": True,
            "return_job": False,
            "returner": "file_log",
            "return_config": "second",
            "return_kwargs": {"host": "logs"},
            "metadata": {"team": "web"},
        },
        "bare": {"function": "test.ping", "hours": 1, "run_on_start": True},
    }

    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, agent, states):
            prepare(agent, states, log)
            config = json.loads((agent.folder / "agent.yaml").read_text())
            config |= {"schedule": schedule, "schedule_returner": "file_log"}
            (agent.folder / "agent.yaml").write_text(json.dumps(config))
            await controller.returned(ID, await controller.send(ID, "state.apply", "none"))
            await until(lambda: len(read(log)) == 2)

    run(scenario())
    found = {one["schedule"]: one for one in read(log)}
    assert (found["bare"]["return"], found["bare"]["id"]) == (True, ID)
    keys = ("return", "ret_config", "ret_kwargs", "metadata", "success")
    assert [found["often"][key] for key in keys] == ["hi", "second", {"host": "logs"}, {"team": "web"}, True]
    assert "ret_config" not in found["bare"]


@pytest.mark.slow
def test_a_worker_that_is_killed_in_the_middle_of_one_does_not_make_it_a_second_call(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, agent, states):
            prepare(agent, states, log)
            (states / "web.sls").write_text("a:\n  test.succeed_with_changes\n")
            jid = await controller.send(ID, "state.apply", "web", returners=["file_log", "slow"])
            await until(lambda: (tmp_path / "log.slow").exists())
            [lock] = agent.folder.rglob(f"{jid}/lock")
            os.kill(JobLock(str(lock)).holder(), signal.SIGKILL)
            done = await controller.returned(ID, jid)
            assert done.status == "returned"
            assert "the returner 'slow' failed: it was interrupted" in done.why
            assert [one["jid"] for one in read(log)] == [jid]
            assert (tmp_path / "log.slow").read_text().split() == [jid]

    run(scenario())
