"""``docker_container.stopped`` and ``docker_container.absent``."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import lifecycle
from saltern.modules.lib.containers.engine import Seen, engine
from saltern.modules.states.docker_container.update import facts


@state
def stopped(
    ctx: Context,
    /,
    name: str,
    *,
    containers: list[str] | None = None,
    shutdown_timeout: int | None = None,
    unpause: bool = False,
    error_on_absent: bool = True,
) -> Result:
    """Make sure that a container does not run.

    Args:
        name: the name or the ID of the container.
        containers: several of them, instead of the name.
        shutdown_timeout: seconds to wait before it is killed; the value it was created with, or 10, if
            not given.
        unpause: resume a paused container to stop it; otherwise the state fails.
        error_on_absent: fail if there is no such container.

    Example:
        ```yaml
        web:
          docker_container.stopped:
            - shutdown_timeout: 5
            - error_on_absent: false
        ```
    """
    targets, docker = containers or [name], engine(ctx)

    def find() -> dict[str, Seen | None]:
        return {target: lifecycle.find(docker, target, by_id=True) for target in targets}

    def differs() -> Changes:
        return {
            target: {"result": True, "state": {"old": lifecycle.state_of(seen), "new": lifecycle.STOPPED}}
            for target, seen in find().items()
            if lifecycle.state_of(seen) not in (None, lifecycle.STOPPED)
        }

    def act(changes: Changes) -> None:
        for target in changes:
            if lifecycle.state_of(lifecycle.find(docker, target, by_id=True)) == lifecycle.PAUSED:
                docker.ask("POST", f"/containers/{target}/unpause")
            lifecycle.stop(docker, target, shutdown_timeout)

    _refuse_some(find(), unpause=unpause, error_on_absent=error_on_absent)
    shown = ", ".join(targets)
    return bring(
        ctx,
        differs,
        act,
        facts=lambda: {target: facts(target, seen) for target, seen in find().items()},
        words=Words(f"Not running: {shown}", f"Would be stopped: {shown}", f"Stopped: {shown}"),
    )


def _refuse_some(found: dict[str, Seen | None], *, unpause: bool, error_on_absent: bool) -> None:
    missing = [target for target, seen in found.items() if seen is None]
    paused = [target for target, seen in found.items() if lifecycle.state_of(seen) == lifecycle.PAUSED]
    if missing and error_on_absent:
        raise Refused(f"no such container: {', '.join(missing)}; set error_on_absent to False to accept that")
    if paused and not unpause:
        raise Refused(f"paused: {', '.join(paused)}; set unpause to True to stop a paused container")


@state(removes=True)
def absent(ctx: Context, /, name: str, *, force: bool = False) -> Result:
    """Make sure that a container does not exist.

    Args:
        name: the name of the container.
        force: remove it even if it runs.

    Example:
        ```yaml
        old-web:
          docker_container.absent:
            - force: true
        ```
    """
    docker = engine(ctx)

    def differs() -> Changes:
        seen = lifecycle.find(docker, name)
        return {"removed": [seen["Id"]]} if seen else {}

    seen = lifecycle.find(docker, name)
    if seen and lifecycle.state_of(seen) != lifecycle.STOPPED and not force:
        raise Refused(f"Container {name!r} is running; set force to True to remove it nevertheless")
    return bring(
        ctx,
        differs,
        lambda _: lifecycle.remove(docker, name, force=force),
        facts=lambda: facts(name, lifecycle.find(docker, name)),
        words=Words(
            f"Container {name!r} does not exist",
            f"Container {name!r} would be removed",
            f"Container {name!r} was removed",
        ),
    )
