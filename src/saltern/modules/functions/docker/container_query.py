"""``docker``: query containers."""

from __future__ import annotations

from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import lifecycle
from saltern.modules.lib.containers.engine import Engine, Seen, engine
from saltern.modules.lib.containers.once import Reading
from saltern.modules.lib.containers.stream import output

KINDS = {0: "Changed", 1: "Added", 2: "Deleted"}


def the(docker: Engine, name: str) -> Seen:
    """The container with this name or ID. Raises ``Refused`` if there is none."""
    seen = docker.find(f"/containers/{lifecycle.check_name(name)}/json")
    if seen is None:
        raise Refused(f"there is no container {name!r}")
    return seen


@function
def ps(
    ctx: Context, filters: dict[str, object] | None = None, all: bool = False, verbose: bool = False
) -> dict[str, Any]:
    """The containers, by ID.

    Args:
        filters: only matching containers, such as ``{label: web}`` or ``{status: exited}``.
        all: also containers that do not run.
        verbose: add the data of ``inspect_container``, under ``Info``.

    Example:
        ```console
        $ saltern call docker.ps all=True
        ```
    """
    docker = engine(ctx)
    asked = {
        key: value if isinstance(value, list) else [str(value)] for key, value in (filters or {}).items()
    }
    found: list[dict[str, Any]] = docker.get("/containers/json", {"all": all, "filters": asked or None})
    rows = {}
    for one in found:
        row = {key: value for key, value in one.items() if key != "Id"}
        row["Names"] = [name.lstrip("/") for name in one.get("Names") or ()]
        row["Time_Created_Epoch"] = one.get("Created")
        rows[one["Id"]] = row | ({"Info": the(docker, one["Id"])} if verbose else {})
    return rows


@function
def list_containers(ctx: Context, all: bool = False) -> list[str]:
    """The names of the containers.

    Args:
        all: also containers that do not run.

    Example:
        ```console
        $ saltern call docker.list_containers
        ```
    """
    found: list[dict[str, Any]] = engine(ctx).get("/containers/json", {"all": all})
    return sorted({name.lstrip("/") for one in found for name in one.get("Names") or ()})


@function
def exists(ctx: Context, name: str) -> bool:
    """True if a container exists.

    Args:
        name: its name or ID.

    Example:
        ```console
        $ saltern call docker.exists web
        ```
    """
    return engine(ctx).find(f"/containers/{lifecycle.check_name(name)}/json") is not None


@function
def state(ctx: Context, name: str) -> str:
    """The state of a container: ``running``, ``paused`` or ``stopped``.

    Args:
        name: the name or ID of the container.

    Example:
        ```console
        $ saltern call docker.state web
        ```
    """
    return str(lifecycle.state_of(the(engine(ctx), name)))


@function
def inspect_container(ctx: Context, name: str) -> dict[str, Any]:
    """All data of a container, including its environment.

    Args:
        name: the name or ID of the container.

    Example:
        ```console
        $ saltern call docker.inspect_container web
        ```
    """
    return the(engine(ctx), name)


@function
def pid(ctx: Context, name: str) -> int:
    """The process ID of a container on this machine; 0 if it does not run.

    Args:
        name: the name or ID of the container.

    Example:
        ```console
        $ saltern call docker.pid web
        ```
    """
    return int(the(engine(ctx), name)["State"]["Pid"])


@function
def port(ctx: Context, name: str, private_port: str | None = None) -> dict[str, Any]:
    """The published ports of a container: ``{80/tcp: [{HostIp, HostPort}]}``.

    Args:
        name: the name or ID of the container, or a pattern such as ``web*``; the result is by name then.
        private_port: only this port, ``80`` or ``53/udp``.

    Example:
        ```console
        $ saltern call docker.port web 80
        ```
    """
    docker = engine(ctx)
    if not any(sign in name for sign in "*?["):
        return _published_ports(the(docker, name), private_port)
    from fnmatch import fnmatch

    names = [one for one in list_containers.body(ctx, all=True) if fnmatch(one, name)]
    return {one: _published_ports(the(docker, one), private_port) for one in names}


def _published_ports(seen: Seen, private_port: str | None) -> dict[str, Any]:
    found: dict[str, Any] = (seen.get("NetworkSettings") or {}).get("Ports") or {}
    asked = None if private_port is None else str(private_port)  # a template may give a number
    wanted = asked if asked is None or "/" in asked else f"{asked}/tcp"
    return {key: places for key, places in found.items() if wanted in (None, key)}


@function
def top(ctx: Context, name: str) -> list[dict[str, str]]:
    """The processes of a container.

    Args:
        name: the name or ID of the container.

    Example:
        ```console
        $ saltern call docker.top web
        ```
    """
    reported = engine(ctx).get(f"/containers/{lifecycle.check_name(name)}/top")
    return [dict(zip(reported["Titles"], row, strict=False)) for row in reported["Processes"]]


@function
def logs(
    ctx: Context,
    name: str,
    stdout: bool = True,
    stderr: bool = True,
    timestamps: bool = False,
    tail: str = "all",
    since: int | None = None,
    until: int | None = None,
) -> str:
    """The output of a container.

    Args:
        name: the name or ID of the container.
        stdout: include its stdout.
        stderr: include its stderr.
        timestamps: prefix each line with the time.
        tail: the number of last lines; ``all`` for all.
        since: only lines since then, in seconds since 1970.
        until: only lines until then.

    Example:
        ```console
        $ saltern call docker.logs web tail=10
        ```
    """
    docker = engine(ctx)
    terminal = bool(the(docker, name)["Config"].get("Tty"))
    reading = Reading(
        stdout=stdout, stderr=stderr, timestamps=timestamps, tail=tail, since=since, until=until
    )
    body = docker.ask("GET", f"/containers/{name}/logs", reading.query()).body
    return "".join(output(body, raw=terminal))


@function
def diff(ctx: Context, name: str) -> dict[str, list[str]]:
    """The paths that differ from the image: ``{Added, Changed, Deleted}``.

    Args:
        name: the name or ID of the container.

    Example:
        ```console
        $ saltern call docker.diff web
        ```
    """
    reported = engine(ctx).get(f"/containers/{lifecycle.check_name(name)}/changes") or []
    found: dict[str, list[str]] = {}
    for one in reported:
        found.setdefault(KINDS[one["Kind"]], []).append(one["Path"])
    return found
