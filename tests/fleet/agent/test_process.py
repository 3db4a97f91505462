"""An agent as a process, with a real broker: what a machine of a fleet does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fleet.agent.standin import AgentProcess, real_controller
from tests.fleet.harness import run, until

pytestmark = [pytest.mark.slow]

ID = "web1.example"


def test_joins_syncs_runs_jobs_and_returns_them(tmp_path: Path) -> None:
    async def scenario() -> None:
        fleet, controller = await real_controller(tmp_path / "controller")
        agent = AgentProcess(tmp_path / "agent")
        try:
            await agent.join(fleet, ID)
            states = tmp_path / "states"
            states.mkdir()
            (states / "web.sls").write_text("a:\n  test.succeed_with_changes\n")
            (agent.folder / "agent.yaml").write_text(f"file_roots: {{base: [{states}]}}\n")
            await agent.start()
            await until(lambda: controller.syncs)

            ping = await controller.send(ID, "test.ping")
            assert (await controller.returned(ID, ping)).status == "returned"
            assert controller.value(ID, ping) is True

            echo = await controller.send(ID, "test.echo", "yes # no")
            assert (await controller.returned(ID, echo)).status == "returned"
            assert controller.value(ID, echo) == "yes # no"

            applied = await controller.send(ID, "state.apply", "web")
            done = await controller.returned(ID, applied)
            assert (done.status, done.exit_code, done.changed, done.failed) == ("returned", 0, 1, 0)
            assert next(iter(controller.value(ID, applied)["local"].values()))["result"] is True

            await until(lambda: ID in controller.facts)
            assert controller.facts[ID].grains["id"] == ID

            code, text = await agent.say("sync")
            assert code == 0, text
            code, text = await agent.say("status")
            assert code == 0, text
            assert "jobs: none" in text, text
        finally:
            assert await agent.stop() == 0, agent.log
            await controller.stop()
            await fleet.stop()

    run(scenario())
