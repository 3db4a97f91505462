"""The broker says who comes and who goes."""

from __future__ import annotations

from pathlib import Path

from tests.fleet.harness import run, until
from tests.fleet.kit import Agent, running_fleet

from saltern.fleet.broker.presence import ClientEvent, watch_clients


def test_agents_are_named_as_they_come_and_go(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            events: list[ClientEvent] = []
            await watch_clients(fleet.broker.system_bus, fleet.broker.authority.account_name, events.append)

            def of(system: str) -> list[tuple[bool, str]]:
                return [(event.connected, event.connection) for event in events if event.system == system]

            agent = await fleet.agent("web1.example.com")
            await until(lambda: [connected for connected, _ in of("web1.example.com")] == [True])
            copy = Agent(fleet, agent.member, agent.keys)
            await copy.connect()
            await until(lambda: [connected for connected, _ in of("web1.example.com")] == [True, True])
            await agent.bus.close()
            await copy.bus.close()
            await until(lambda: len(of("web1.example.com")) == 4)
            came = {connection for connected, connection in of("web1.example.com") if connected}
            gone = {connection for connected, connection in of("web1.example.com") if not connected}
            assert came == gone and len(came) == 2
            liar = await fleet.connect(agent.member.name, agent.credential, label="db1")
            await until(lambda: len(of("web1.example.com")) == 5)
            assert events[-1].label == "db1" and of("db1") == []
            await liar.close()
            joiners = [event for event in events if event.name.startswith("_join-")]
            assert joiners and not any(event.system for event in joiners)

    run(scenario())
