"""``docker_network.absent``."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.containers.engine import engine
from saltern.modules.states.docker_network.members import facts, find, take_down


@state(removes=True)
def absent(ctx: Context, /, name: str) -> Result:
    """Make sure that a network does not exist; running containers are disconnected from it.

    Args:
        name: the name of the network.

    Example:
        ```yaml
        old-backend:
          docker_network.absent
        ```
    """
    docker = engine(ctx)

    def differs() -> Changes:
        seen = find(docker, name)
        if seen is None:
            return {}
        there = sorted(one["Name"] for one in (seen.get("Containers") or {}).values())
        return {"removed": name} | ({"disconnected": there} if there else {})

    def act(_: Changes) -> None:
        if seen := find(docker, name):
            take_down(docker, seen)

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: facts(name, find(docker, name)),
        words=Words(
            f"Network {name!r} is not present",
            f"Network {name!r} would be removed",
            f"Network {name!r} was removed",
        ),
    )
