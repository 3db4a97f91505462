"""``docker``: create and remove containers."""

from __future__ import annotations

from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.docker.container_query import the
from saltern.modules.lib.containers import lifecycle
from saltern.modules.lib.containers.engine import engine
from saltern.modules.lib.containers.lifecycle import STOPPED
from saltern.modules.lib.containers.once import Once, Reading, run_to_end

Moved = dict[str, Any]


@function
def rm(
    ctx: Context,
    name: str,
    force: bool = False,
    volumes: bool = False,
    stop: bool = False,
    timeout: int | None = None,
) -> list[str]:
    """Remove a container. Returns the IDs of removed containers.

    Args:
        name: the name or ID of the container.
        force: kill it first if it runs.
        volumes: also remove its anonymous volumes.
        stop: stop it first if it runs.
        timeout: seconds to wait for it to stop.

    Example:
        ```console
        $ saltern call docker.rm web stop=True
        ```
    """
    docker = engine(ctx)
    seen = the(docker, name)
    if stop and lifecycle.state_of(seen) != STOPPED:
        lifecycle.stop(docker, name, timeout)
    lifecycle.remove(docker, name, force=force, volumes=volumes)
    return [seen["Id"]]


@function
def rename(ctx: Context, name: str, new_name: str) -> bool:
    """Rename a container.

    Args:
        name: the name or ID of the container.
        new_name: its new name.

    Example:
        ```console
        $ saltern call docker.rename web web-old
        ```
    """
    lifecycle.rename(engine(ctx), lifecycle.check_name(name), lifecycle.check_name(new_name))
    return True


@function
def create(
    ctx: Context,
    /,
    image: str,
    name: str | None = None,
    start: bool = False,
    skip_translate: object = None,
    ignore_collisions: bool = False,
    validate_ip_addrs: bool = True,
    client_timeout: float = 60,
    **container: object,
) -> dict[str, Any]:
    """Create a container.

    Args:
        image: the image; pulled if it is missing.
        name: its name; chosen by the engine if not given.
        start: start it, too.
        skip_translate, ignore_collisions, validate_ip_addrs: as in ``docker_container.running``.
        client_timeout: seconds to wait for a response of the engine.
        container: all arguments that describe a container, as in ``docker_container.running``.

    Example:
        ```console
        $ saltern call docker.create busybox:1.36 name=web command='sleep 60' start=True
        ```
    """
    once = Once(
        ctx,
        name,
        image,
        container,
        skip_translate=skip_translate,
        ignore_collisions=ignore_collisions,
        validate_ip_addrs=validate_ip_addrs,
        client_timeout=client_timeout,
    )
    made = once.create()
    if start:
        lifecycle.start(once.engine, made)
    seen = the(once.engine, made)
    return {"Id": made, "Name": seen["Name"].lstrip("/"), "Warnings": list(once.warnings), "Started": start}


@function
def run_container(
    ctx: Context,
    /,
    image: str,
    name: str | None = None,
    bg: bool = False,
    replace: bool = False,
    force: bool = False,
    skip_translate: object = None,
    ignore_collisions: bool = False,
    validate_ip_addrs: bool = True,
    client_timeout: float = 60,
    **container: object,
) -> dict[str, Any]:
    """Run a container to its end. Returns ``{Id, Name, ExitCode, Logs}``.

    Args:
        image: the image; pulled if it is missing.
        name: its name; chosen by the engine if not given.
        bg: do not wait for it to end.
        replace: remove an existing container with that name first.
        force: remove it even if it runs.
        skip_translate, ignore_collisions, validate_ip_addrs: as in ``docker_container.running``.
        client_timeout: seconds to wait for a response of the engine, not for the container.
        container: all arguments that describe a container, as in ``docker_container.running``.

    Example:
        ```console
        $ saltern call docker.run_container busybox:1.36 command='echo hello' rm=True
        ```
    """
    once = Once(
        ctx,
        name,
        image,
        container,
        skip_translate=skip_translate,
        ignore_collisions=ignore_collisions,
        validate_ip_addrs=validate_ip_addrs,
        client_timeout=client_timeout,
    )
    once.refuse_existing(replace=replace, force=force)
    return once.start(bg=True) if bg else run_to_end(once, Reading())
