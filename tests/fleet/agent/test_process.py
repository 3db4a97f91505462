"""An agent as a process, with a real broker: what a machine of a fleet does, and what it survives."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.fleet.agent.standin import DAY, AgentProcess, Controller, one_agent
from tests.fleet.harness import run, until

import saltern
from saltern.fleet.identity.enrolment import Standing
from saltern.fleet.identity.keys import load_keys
from saltern.fleet.identity.membership import load_membership, save_membership
from saltern.modules.lib.chain_chunks import chunk_name

pytestmark = [pytest.mark.slow]

ID = "web1.example"


def test_syncs_runs_jobs_and_returns_them(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, agent, states):
            (states / "web.sls").write_text(
                "a:\n  test.succeed_with_changes\nb:\n  test.fail_without_changes\n"
            )

            ping = await controller.send(ID, "test.ping")
            assert (await controller.returned(ID, ping)).status == "returned"
            assert controller.value(ID, ping) is True

            echo = await controller.send(ID, "test.echo", "yes # no")
            assert (await controller.returned(ID, echo)).status == "returned"
            assert controller.value(ID, echo) == "yes # no"

            applied = await controller.send(ID, "state.apply", "web", kwargs={"pillar": {"secret": 1}})
            done = await controller.returned(ID, applied)
            assert (done.status, done.exit_code, done.changed, done.failed) == ("failed", 2, 1, 1)
            results = {
                one["__id__"]: one["result"] for one in controller.value(ID, applied)["local"].values()
            }
            assert results == {"a": True, "b": False}

            await until(lambda: any(one.jid == applied for _, one in controller.records))
            kinds = [record["kind"] for _, one in controller.records for record in one.records]
            assert kinds[0] == "run"
            assert kinds[-1] == "end"
            assert "secret" not in str(controller.records)

            wrong = await controller.send(ID, "state.apply", kwargs={"no_such": 1})
            assert "no argument 'no_such'" in (await controller.returned(ID, wrong)).why
            missing = await controller.send(ID, "no.function")
            assert "function-unknown" in (await controller.returned(ID, missing)).why

            await until(lambda: ID in controller.facts)
            assert controller.facts[ID].grains["id"] == ID
            code, text = await agent.say("sync")
            assert code == 0, text
            code, text = await agent.say("status")
            assert code == 0, text
            assert "jobs: none" in text, text

    run(scenario())


def waiting(states: Path, base: Path) -> None:
    """A run of two states; the first one writes down that it began, and waits for a file."""
    wait = f"echo began >> {base}/began; while [ ! -e {base}/on ]; do sleep 0.05; done"
    (states / "wait.sls").write_text(
        f"first:\n  cmd.run:\n    - name: {wait}\n"
        f"second:\n  cmd.run:\n    - name: echo second >> {base}/second\n    - require:\n      - cmd: first\n"
    )


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_an_agent_that_is_killed_finds_its_worker_and_takes_its_result_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, agent, states):
            waiting(states, tmp_path)
            jid = await controller.send(ID, "state.apply", "wait")
            await until(lambda: lines(tmp_path / "began"))
            await until(lambda: any(one.state == "cmd.run first" for _, one in controller.progress))
            assert (controller.progress[-1][1].done, controller.progress[-1][1].total) == (0, 2)
            await until(lambda: {"run", "plan", "start"} <= {one for _, one in recorded(controller)})
            await agent.kill()
            await agent.start()
            await until(lambda: len({sync.instance for _, sync in controller.syncs}) == 2)
            assert controller.syncs[-1][1].running == [jid]
            (tmp_path / "on").touch()
            assert (await controller.returned(ID, jid)).status == "returned"
            assert lines(tmp_path / "began") == ["began"]
            assert lines(tmp_path / "second") == ["second"]
            await agent.kill()
            await agent.start()
            await until(lambda: len({sync.instance for _, sync in controller.syncs}) == 3)
            assert [part.jid for _, part in controller.arrived].count(jid) == 1
            await until(lambda: recorded(controller)[-1][1] == "end")
            numbers = [number for number, _ in recorded(controller)]
            assert numbers == [*range(len(numbers))]  # each once, in the order of the journal

    run(scenario())


def recorded(controller: Controller) -> list[tuple[int, str]]:
    """Number and kind of all records that came, in the order in which they came."""
    return [
        (number, record["kind"])
        for _, one in controller.records
        for number, record in enumerate(one.records, one.first)
    ]


def test_what_a_hidden_state_works_with_is_not_sent_while_it_could_be_read(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, _agent, states):
            wait = f"touch {tmp_path}/began; while [ ! -e {tmp_path}/on ]; do sleep 0.05; done"
            (states / "wait.sls").write_text(
                f"first:\n  cmd.run:\n    - name: {wait}; echo s3cret\n    - no_log: true\n"
            )
            jid = await controller.send(ID, "state.apply", "wait")
            await until(lambda: (tmp_path / "began").exists())
            await until(lambda: any(one.total for _, one in controller.progress))
            assert controller.records == []
            (tmp_path / "on").touch()
            assert (await controller.returned(ID, jid)).status == "returned"
            await until(lambda: bool(controller.records) and recorded(controller)[-1][1] == "end")
            assert "s3cret" not in str(controller.records)

    run(scenario())


def worker_of(agent_folder: Path, jid: str) -> int:
    from saltern.fleet.agent.task import JobFolder

    return JobFolder(str(agent_folder / "agent" / "jobs" / jid)).lock.holder()


async def resumed_run(controller: Controller, agent: AgentProcess, folder: Path, ends: signal.Signals) -> str:
    """A run whose worker this signal ends in its midst, and which returns nevertheless."""
    jid = await controller.send(ID, "state.apply", "wait")
    await until(lambda: lines(folder / "began"))
    os.kill(worker_of(agent.folder, jid), ends)
    (folder / "on").touch()
    done = await controller.returned(ID, jid)
    assert done.status == "returned", done.why
    return jid


def test_a_worker_that_is_killed_is_replaced_by_one_that_resumes_the_run(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, agent, states):
            waiting(states, tmp_path)
            jid = await resumed_run(controller, agent, tmp_path, signal.SIGKILL)
            assert lines(tmp_path / "began") == ["began"]  # the program outlived its run, and was waited for
            assert len(controller.value(ID, jid)["local"]) == 2

            call = await controller.send(ID, "cmd.run", f"echo once >> {tmp_path}/once; sleep 60")
            await until(lambda: lines(tmp_path / "once"))
            os.kill(worker_of(agent.folder, call), signal.SIGKILL)
            assert (await controller.returned(ID, call)).status == "indeterminate"
            assert lines(tmp_path / "once") == ["once"]

    run(scenario())


def test_a_worker_that_a_shutdown_ends_is_replaced_by_one_that_resumes_the_run(tmp_path: Path) -> None:
    """At a shutdown each process is asked to end; a job with a journal is not over then."""

    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, agent, states):
            waiting(states, tmp_path)
            await resumed_run(controller, agent, tmp_path, signal.SIGTERM)
            assert lines(tmp_path / "second") == ["second"]

    run(scenario())


def test_cancels_before_the_next_state_and_by_force(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, agent, states):
            waiting(states, tmp_path)
            soft = await controller.send(ID, "state.apply", "wait")
            behind = await controller.send(ID, "cmd.run", "true")
            await until(lambda: lines(tmp_path / "began"))
            await controller.order(ID, "cancel", behind)
            assert (await controller.returned(ID, behind)).status == "cancelled"
            await controller.order(ID, "cancel", soft)
            folder = agent.folder / "agent" / "jobs" / soft
            await until(lambda: (folder / "cancel").exists())
            (tmp_path / "on").touch()
            assert (await controller.returned(ID, soft)).status == "cancelled"
            assert not lines(tmp_path / "second")

            (tmp_path / "on").unlink()
            hard = await controller.send(ID, "state.apply", "wait")
            await until(lambda: len(lines(tmp_path / "began")) == 2)
            await controller.order(ID, "kill", hard)
            assert (await controller.returned(ID, hard)).status == "cancelled"
            assert not lines(tmp_path / "second")

            call = await controller.send(ID, "cmd.run", f"echo call >> {tmp_path}/call; sleep 600")
            asked = await controller.send(ID, "test.sleep", 600)
            await until(lambda: lines(tmp_path / "call") and bool(worker_of(agent.folder, asked)))
            for jid in (call, asked):  # a function has no states: it ends as at a keyboard
                await controller.order(ID, "cancel", jid)
                assert (await controller.returned(ID, jid)).status == "cancelled"

            late = await controller.send(ID, "test.sleep", 60, time_limit=0.5)
            done = await controller.returned(ID, late)
            assert (done.status, "time limit" in done.why) == ("failed", True)

    run(scenario())


def test_renews_its_credential_at_half_of_its_life_and_stays_connected(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with one_agent(tmp_path, ID, life=8.0) as (controller, agent, _states):
            kept = agent.folder / "agent" / "keys" / "membership.json"
            first = kept.read_text()
            await until(lambda: "the credential is renewed" in agent.log)
            assert kept.read_text() != first
            ping = await controller.send(ID, "test.ping")
            assert (await controller.returned(ID, ping)).status == "returned"
            assert agent.process is not None
            assert agent.process.returncode is None

    run(scenario())


def expire_credential(controller: Controller, agent: AgentProcess) -> None:
    """As if the machine had been off for months."""
    assert controller.mint is not None
    folder = str(agent.folder / "agent" / "keys")
    member, key = load_membership(folder), load_keys(folder).signing.public
    old = controller.mint.agent(ID, key, now=time.time() - 90 * DAY)
    save_membership(folder, replace(member, credential=old))


def test_an_agent_that_was_away_too_long_gets_a_credential_with_its_key_unless_that_is_revoked(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, agent, _states):
            await agent.stop()
            expire_credential(controller, agent)
            ping = controller.job("test.ping")
            controller.missed[ID] = {ping.jid: controller.sign(ping, ID)}
            await agent.start()
            assert (await controller.returned(ID, ping.jid, 60)).status == "returned"

            await agent.stop()
            expire_credential(controller, agent)
            for row in [*controller.registry.systems.values()]:
                controller.registry.set(row.id, row.fingerprint, Standing.REVOKED)
            await agent.start()
            await until(lambda: "a new one was not given" in agent.log, 60)
            assert "this key was revoked; make new keys and join again" in agent.log
            assert "saltern agent leave" in (await agent.say("status"))[1]

    run(scenario(), 180)


# Stands for a package manager that brings another build along: it replaces the files of the running one.
BRINGS = """
import os, saltern

def installed(name, **kwargs):
    place = saltern.__file__
    with open(place) as file:
        text = file.read()
    changes = {}
    if "9.9.9" not in text:
        with open(place + ".new", "w") as file:
            file.write(text + "\\n__version__ = '9.9.9'\\n")
        os.replace(place + ".new", place)
        changes = {"saltern": "9.9.9"}
    return {"name": name, "result": True, "comment": "", "changes": changes}
"""


def test_a_job_that_replaces_the_program_continues_in_the_new_build_and_so_does_the_agent(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, agent, states):
            await agent.stop()
            library = tmp_path / "library" / "saltern"
            shutil.copytree(Path(saltern.__file__).parent, library)
            agent.env = {"PYTHONPATH": str(library.parent)}
            (states / "_states").mkdir()
            (states / "_states" / "pkg.py").write_text(BRINGS)
            (states / "up.sls").write_text(
                f"before:\n  cmd.run:\n    - name: echo x >> {tmp_path}/before\n"
                "saltern:\n  pkg.installed: []\n"
                f"after:\n  cmd.run:\n    - name: echo x >> {tmp_path}/after\n"
            )
            await agent.start()
            await until(lambda: len({sync.instance for _, sync in controller.syncs}) == 2, 60)
            assert controller.syncs[-1][1].version != "9.9.9"
            jid = await controller.send(ID, "state.apply", "up")
            done = await controller.returned(ID, jid, 120)
            assert done.status == "returned", done.why
            assert len(controller.value(ID, jid)["local"]) == 3
            assert (lines(tmp_path / "before"), lines(tmp_path / "after")) == (["x"], ["x"])
            assert [one.jid for _, one in controller.away if one.why == "update"][:1] == [jid]
            await until(lambda: controller.syncs[-1][1].version == "9.9.9", 120)
            ping = await controller.send(ID, "test.ping")
            assert (await controller.returned(ID, ping)).status == "returned"

    run(scenario(), 300)


NAMESPACE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
# Whether processes are asked to end before the machine goes down, as an init does, or the power is cut.
in_order = pytest.mark.parametrize("in_order", [True, False])


async def go_down(agent: AgentProcess, jid: str, *, in_order: bool) -> None:
    """All processes of the machine end: the worker that waits for it, and the agent."""
    if in_order:
        worker = worker_of(agent.folder, jid)
        os.kill(worker, signal.SIGTERM)
        await until(lambda: worker_of(agent.folder, jid) != worker)
    await agent.kill()


async def restart_in_namespace(controller: Controller, agent: AgentProcess, states: Path) -> Path:
    """Start the agent again, in a namespace. The file is there once it has ordered a reboot."""
    await agent.stop()
    armed = states.parent / "armed"
    (agent.folder / "agent.yaml").write_text(
        f"file_roots: {{base: [{states}]}}\nreboot_command: [sh, -c, 'touch {armed}']\n"
    )
    agent.inside = NAMESPACE
    await agent.start()
    await until(lambda: len({sync.instance for _, sync in controller.syncs}) == 2)
    return armed


async def wait_for_reboot(controller: Controller, armed: Path) -> None:
    """Wait until the agent has ordered a reboot and said so."""
    await until(lambda: armed.exists() and [one for _, one in controller.away if one.why == "reboot"])


@in_order
@pytest.mark.skipif(os.geteuid() != 0, reason="needs a namespace of processes")
def test_a_reboot_in_the_middle_of_a_job_is_reported_and_the_job_continues(
    tmp_path: Path, in_order: bool
) -> None:
    """A new namespace has another process 1: to the agent that is another boot."""

    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, agent, states):
            armed = await restart_in_namespace(controller, agent, states)
            (states / "boot.sls").write_text(
                f"before:\n  cmd.run:\n    - name: echo x >> {tmp_path}/before\n"
                "down:\n  system.reboot:\n    - only_on_pending_reboot: false\n    - start_deadline: 300\n"
                "    - return_deadline: 60\n"
                f"after:\n  cmd.run:\n    - name: echo x >> {tmp_path}/after\n"
            )
            jid = await controller.send(ID, "state.apply", "boot")
            await wait_for_reboot(controller, armed)
            away = next(one for _, one in controller.away if one.why == "reboot")
            assert (away.jid, away.back_by > controller.now()) == (jid, True)
            assert away.back_by <= controller.now() + 300 + 60  # as the state says
            assert (ID, jid) not in controller.parts
            await go_down(agent, jid, in_order=in_order)
            await agent.start()
            done = await controller.returned(ID, jid)
            assert done.status == "returned", done.why
            assert len(controller.value(ID, jid)["local"]) == 3
            assert (lines(tmp_path / "before"), lines(tmp_path / "after")) == (["x"], ["x"])

    run(scenario())


@in_order
@pytest.mark.skipif(os.geteuid() != 0, reason="needs a namespace of processes")
def test_the_leg_of_a_chain_is_one_job_and_continues_after_a_reboot(tmp_path: Path, in_order: bool) -> None:
    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, agent, states):
            armed = await restart_in_namespace(controller, agent, states)
            text = (
                "chain: nightly\nid: 7\nactions:\n"
                f"- {{id: A1, command: 'echo x >> {tmp_path}/before'}}\n"
                "- {id: A2, reboot: {}}\n"
                f"- {{id: A3, command: 'echo x >> {tmp_path}/after'}}\n"
                "- {id: A4, command: 'exit 3', targets: [other]}\n"
            )
            jid = await controller.send(ID, "chain.run", kwargs={"text": text, "file": "nightly.yaml"})
            await wait_for_reboot(controller, armed)
            assert (ID, jid) not in controller.parts
            assert not (tmp_path / "after").exists()
            await go_down(agent, jid, in_order=in_order)
            await agent.start()
            done = await controller.returned(ID, jid)
            assert done.status == "returned", done.why
            found = controller.value(ID, jid)["local"]
            assert [(one["action"], one["status"]) for one in found["steps"]] == [
                ("A1", "succeeded"),
                ("A2", "succeeded"),
                ("A3", "succeeded"),
            ]
            chunks = [one["chunk"] for one in found["steps"]]
            assert chunks == [chunk_name("7", ID, number) for number in (1, 1, 2)]
            assert (lines(tmp_path / "before"), lines(tmp_path / "after")) == (["x"], ["x"])

    run(scenario())
