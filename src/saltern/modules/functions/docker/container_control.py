"""``docker``: start, stop and pause containers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.docker.container_query import the
from saltern.modules.lib.containers import lifecycle
from saltern.modules.lib.containers.engine import Engine, engine
from saltern.modules.lib.containers.lifecycle import PAUSED, RUNNING, STOPPED
from saltern.modules.lib.containers.once import FOREVER

Moved = dict[str, Any]


def _move(
    docker: Engine, name: str, wanted: str, act: Callable[[], object], *, anyway: bool = False
) -> Moved:
    """Act on a container, and return Salt's mapping: success, and the old and new state."""
    before = lifecycle.state_of(the(docker, name))
    if before == wanted and not anyway:
        reported = f"Container '{name}' already {wanted}"
        return {"result": False, "state": {"old": wanted, "new": wanted}, "comment": reported}
    act()
    seen = docker.find(f"/containers/{name}/json")
    after = lifecycle.state_of(seen) or STOPPED
    return {"result": after == wanted, "state": {"old": before, "new": after}}


@function
def start(ctx: Context, name: str) -> Moved:
    """Start a container, or resume a paused one.

    Args:
        name: the name or ID of the container.

    Example:
        ```console
        $ saltern call docker.start web
        ```
    """
    docker = engine(ctx)
    return _move(docker, name, RUNNING, lambda: lifecycle.start(docker, name))


@function
def stop(ctx: Context, name: str, timeout: int | None = None, unpause: bool = False) -> Moved:
    """Stop a container.

    Args:
        name: the name or ID of the container.
        timeout: seconds to wait before it is killed; the value it was created with, or 10, if not given.
        unpause: resume a paused container first.

    Example:
        ```console
        $ saltern call docker.stop web timeout=5
        ```
    """
    docker = engine(ctx)
    if lifecycle.state_of(the(docker, name)) == PAUSED:
        if not unpause:
            reported = f"Container '{name}' is paused, run with unpause=True to unpause before stopping"
            return {"result": False, "state": {"old": PAUSED, "new": PAUSED}, "comment": reported}
        docker.ask("POST", f"/containers/{name}/unpause")
    return _move(docker, name, STOPPED, lambda: lifecycle.stop(docker, name, timeout))


@function
def restart(ctx: Context, name: str, timeout: int = 10) -> Moved:
    """Stop a container and start it again.

    Args:
        name: the name or ID of the container.
        timeout: seconds to wait before it is killed.

    Example:
        ```console
        $ saltern call docker.restart web
        ```
    """
    docker = engine(ctx)

    def act() -> None:
        query = {"t": timeout}
        docker.ask("POST", f"/containers/{name}/restart", query, timeout=docker.timeout + timeout)

    return _move(docker, name, RUNNING, act, anyway=True) | {"restarted": True}


def _pause(ctx: Context, name: str) -> Moved:
    return _move_running(ctx, name, PAUSED, "pause")


def _unpause(ctx: Context, name: str) -> Moved:
    return _move_running(ctx, name, RUNNING, "unpause")


def _move_running(ctx: Context, name: str, wanted: str, order: str) -> Moved:
    """Give an order that a stopped container cannot follow."""
    docker = engine(ctx)
    if (before := lifecycle.state_of(the(docker, name))) == STOPPED:
        reported = f"Container '{name}' is stopped, cannot {order}"
        return {"result": False, "state": {"old": before, "new": before}, "comment": reported}
    return _move(docker, name, wanted, lambda: docker.ask("POST", f"/containers/{name}/{order}"))


@function
def pause(ctx: Context, name: str) -> Moved:
    """Pause all processes of a container.

    Args:
        name: the name or ID of the container.

    Example:
        ```console
        $ saltern call docker.pause web
        ```
    """
    return _pause(ctx, name)


@function
def freeze(ctx: Context, name: str) -> Moved:
    """An alias of ``pause``.

    Args:
        name: the name or ID of the container.

    Example:
        ```console
        $ saltern call docker.freeze web
        ```
    """
    return _pause(ctx, name)


@function
def unpause(ctx: Context, name: str) -> Moved:
    """Resume all processes of a container.

    Args:
        name: the name or ID of the container.

    Example:
        ```console
        $ saltern call docker.unpause web
        ```
    """
    return _unpause(ctx, name)


@function
def unfreeze(ctx: Context, name: str) -> Moved:
    """An alias of ``unpause``.

    Args:
        name: the name or ID of the container.

    Example:
        ```console
        $ saltern call docker.unfreeze web
        ```
    """
    return _unpause(ctx, name)


@function
def kill(ctx: Context, name: str) -> Moved:
    """Kill a container.

    Args:
        name: the name or ID of the container.

    Example:
        ```console
        $ saltern call docker.kill web
        ```
    """
    docker = engine(ctx)
    return _move(docker, name, STOPPED, lambda: docker.ask("POST", f"/containers/{name}/kill"))


@function
def signal(ctx: Context, name: str, signal: str) -> bool:
    """Send a signal to a container.

    Args:
        name: the name or ID of the container.
        signal: its name or number.

    Example:
        ```console
        $ saltern call docker.signal web SIGHUP
        ```
    """
    engine(ctx).ask("POST", f"/containers/{lifecycle.check_name(name)}/kill", {"signal": signal})
    return True


@function
def wait(
    ctx: Context, name: str, ignore_already_stopped: bool = False, fail_on_exit_status: bool = False
) -> Moved:
    """Wait until a container has ended.

    Args:
        name: the name or ID of the container.
        ignore_already_stopped: do not fail if it has ended before.
        fail_on_exit_status: fail if its exit code is not 0.

    Example:
        ```console
        $ saltern call docker.wait web
        ```
    """
    docker = engine(ctx)
    before = lifecycle.state_of(the(docker, name))
    reported = docker.data("POST", f"/containers/{name}/wait", timeout=FOREVER)
    code = reported["StatusCode"]
    good = (before != STOPPED or ignore_already_stopped) and not (fail_on_exit_status and code)
    return {"result": good, "exit_status": code, "state": {"old": before, "new": STOPPED}}
