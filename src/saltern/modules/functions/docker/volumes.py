"""``docker``: volumes."""

from __future__ import annotations

from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import lifecycle
from saltern.modules.lib.containers.engine import engine
from saltern.modules.lib.containers.values import settings


@function
def volumes(ctx: Context, filters: dict[str, object] | None = None) -> dict[str, Any]:
    """The volumes: ``{Volumes: […], Warnings: …}``.

    Args:
        filters: only matching volumes, such as ``{dangling: true}``.

    Example:
        ```console
        $ saltern call docker.volumes
        ```
    """
    asked = {
        key: [str(value).lower() if isinstance(value, bool) else str(value)]
        for key, value in (filters or {}).items()
    }
    found: dict[str, Any] = engine(ctx).get("/volumes", {"filters": asked or None})
    return found


@function
def inspect_volume(ctx: Context, name: str) -> dict[str, Any]:
    """All data of a volume.

    Args:
        name: its name.

    Example:
        ```console
        $ saltern call docker.inspect_volume web-data
        ```
    """
    seen = engine(ctx).find(f"/volumes/{lifecycle.check_name(name)}")
    if seen is None:
        raise Refused(f"there is no volume {name!r}")
    return seen


@function
def create_volume(
    ctx: Context, name: str, driver: str = "local", driver_opts: object = None
) -> dict[str, Any]:
    """Create a volume.

    Args:
        name: its name.
        driver: its driver.
        driver_opts: options of the driver, ``{name: value}`` or ``name=value``.

    Example:
        ```console
        $ saltern call docker.create_volume web-data
        ```
    """
    body = {"Name": lifecycle.check_name(name), "Driver": driver, "DriverOpts": settings(driver_opts or {})}
    made: dict[str, Any] = engine(ctx).data("POST", "/volumes/create", body=body)
    return made


@function
def remove_volume(ctx: Context, name: str) -> bool:
    """Remove an unused volume with its data.

    Args:
        name: its name.

    Example:
        ```console
        $ saltern call docker.remove_volume web-data
        ```
    """
    engine(ctx).ask("DELETE", f"/volumes/{lifecycle.check_name(name)}")
    return True
