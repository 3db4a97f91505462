"""A controller that was removed: an agent refuses what its key signs, also after a start. With a broker."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.fleet.agent.standin import DAY, AgentProcess, Controller, one_agent
from tests.fleet.harness import run, until

from saltern.fleet.identity.membership import load_membership
from saltern.fleet.protocol.envelope import Issuer, certify
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import Audience, Certificate
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.fleet.protocol.withdrawal import withdraw

pytestmark = [pytest.mark.slow]

ID = "web1.example"


class Gone:
    """A second controller of the fleet, which was removed and still has its key, and a way to the broker."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        now = time.time()
        self.key = SigningKey.new()
        self.certificate = Certificate(
            fleet=controller.issuer.fleet,
            serial="c2-1",
            name="c2",
            key=self.key.public,
            issued=now - 60,
            expires=now + DAY,
        )

    async def send(self) -> str:
        """A job, under a certificate that it got lately; its jid."""
        certificate = certify(self.controller.root, self.certificate)
        issuer = Issuer(fleet=self.certificate.fleet, key=self.key, certificate=certificate)
        job = self.controller.job("test.echo", "x")
        data = issuer.issue(job, Audience(ids=[ID]), now=time.time(), life=60)
        await self.controller.bus.publish(SUBJECTS["job"].of(id=ID), data)
        return job.jid

    async def assert_refused(self, agent: AgentProcess) -> None:
        """What came after its job was obeyed, and the job was not."""
        before = agent.log.count("was withdrawn")
        jid = await self.send()
        ping = await self.controller.send(ID, "test.ping")
        assert (await self.controller.returned(ID, ping)).status == "returned"
        assert (ID, jid) not in self.controller.parts
        assert agent.log.count("was withdrawn") > before


def test_a_controller_whose_key_was_withdrawn_is_obeyed_no_longer(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with one_agent(tmp_path, ID) as (controller, agent, _):
            gone = Gone(controller)
            assert (await controller.returned(ID, await gone.send())).status == "returned"

            stranger = withdraw(gone.key, gone.certificate)  # not by the root: that counts for nothing
            own = Certificate(
                fleet=controller.issuer.fleet,
                serial="",
                name="c1",
                key=controller.issuer.key.public,
                issued=0,
                expires=0,
            )
            by_root = withdraw(controller.root, gone.certificate)
            controller.withdrawn = [stranger, withdraw(gone.key, own), by_root]
            await controller.order(ID, "sync")
            keys = str(agent.folder / "agent" / "keys")
            await until(lambda: load_membership(keys).withdrawn == (gone.key.public.hex(),))
            await gone.assert_refused(agent)

            controller.withdrawn = []
            await agent.kill()
            await agent.start()
            await until(lambda: len({sync.instance for _, sync in controller.syncs}) == 2)
            await gone.assert_refused(agent)

    run(scenario())
