"""Turn a host into an agent system, through one session: archive, token, service; and back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.ssh.drive import Done, Reach, enter, target_for
from saltern.fleet.ssh.problems import Unreached
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.session import Session, open_session
from saltern.language.diagnostics import OperationError


class Deployment(Struct, frozen=True, kw_only=True):
    """How the agent is kept there. ``start``: a shell command that starts it, in place of a service;
    ``directory``: everything of it below this one. ``remove``: make an SSH system of it again.
    ``wait``: seconds for the agent to come up, and to be answered by a controller.
    """

    directory: str = ""
    start: str = ""
    remove: bool = False
    wait: float = 60.0


async def deploy(host: Host, reach: Reach, how: Deployment, token: str = "") -> Done:
    """Install or remove the agent on one host; return how that ended. Problems of the host or the network are
    returned, not raised.
    """
    try:
        async with reach.limits.room(host):
            session = await open_session(host, reach.transport, reach.secrets)
            try:
                problem = await _deploy(host, session, reach, how, token)
            finally:
                await session.close()
    except Unreached as found:
        return Done(status="failed", why=str(found.diagnostic()), code=2, problem=found.kind)
    except OperationError as found:
        return Done(status="failed", why=str(found), code=1, problem="bundle")
    return Done(status="failed" if problem else "returned", why=problem, code=2 if problem else 0)


def deploy_on(hosts: Sequence[Host], reach: Reach, how: Deployment, token: str) -> dict[str, Done]:
    """Install or remove the agent on many hosts at once; return how that ended on each, by id."""

    async def main() -> list[Done]:
        try:
            return await asyncio.gather(*(deploy(host, reach, how, token) for host in hosts))
        finally:
            await reach.transport.close()

    return {host.id: done for host, done in zip(hosts, asyncio.run(main()), strict=True)}


async def _deploy(host: Host, session: Session, reach: Reach, how: Deployment, token: str) -> str:
    await enter(session, reach.bundles)
    head = {"id": host.id, "directory": how.directory, "start": how.start, "wait": how.wait}
    if how.remove:
        answer = await session.ask({"do": "undeploy", **head})
        return str(answer.head.get("problem", ""))
    target = replace(target_for(session.introduction), agent=True)
    bundle = await asyncio.wrap_future(reach.bundles.request(target))
    there = await session.ask({"do": "agent", "digest": bundle.digest})
    body = b"" if there.head.get("there") else bundle.data
    answer = await session.ask({"do": "deploy", "digest": bundle.digest, "token": token, **head}, body)
    return str(answer.head.get("problem", ""))
