"""``docker_volume``: volumes of a Docker engine. Needs a running engine, and no other program."""

from __future__ import annotations

from typing import Any

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import lifecycle
from saltern.modules.lib.containers.driver_secrets import hide_passwords
from saltern.modules.lib.containers.engine import Engine, Seen, engine
from saltern.modules.lib.containers.values import settings


@state
def present(
    ctx: Context,
    /,
    name: str,
    *,
    driver: str | None = None,
    driver_opts: object = None,
    force: bool = False,
) -> Result:
    """Make sure that a volume exists.

    Args:
        name: the name of the volume.
        driver: its driver; ``local`` if not given.
        driver_opts: options of the driver, ``{type: tmpfs, device: tmpfs, o: size=1m}`` or a list of these.
        force: replace a volume with another driver or other options, **and lose its data**;
            without it, another driver is a failure and other options are a warning.

    Example:
        ```yaml
        web-data:
          docker_volume.present:
            - driver: local
        ```
    """
    docker, wanted = engine(ctx), settings(driver_opts or {})
    seen = _find(docker, name)
    if seen and _other_driver(seen, driver) and not force:
        raise Refused(
            f"volume {name!r} has the driver {seen['Driver']!r}, not {driver!r}; set force to replace it"
        )

    def differs() -> Changes:
        now = _find(docker, name)
        new = {
            "Name": name,
            "Driver": driver or (now or {}).get("Driver") or "local",
            "Options": hide_passwords(wanted),
        }
        if now is None:
            return {"created": new}
        if force and (_other_driver(now, driver) or _other_options(now, wanted)):
            return {"removed": name, "created": new}
        return {}

    def act(changes: Changes) -> None:
        if "removed" in changes:
            _remove(docker, name)
        body = {"Name": name, "Driver": driver or "local", "DriverOpts": wanted}
        docker.ask("POST", "/volumes/create", body=body)

    strange = seen is not None and not force and _other_options(seen, wanted)
    return bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(name, _find(docker, name)),
        words=Words(
            f"Volume {name!r} is already present",
            f"Volume {name!r} would be created",
            f"Volume {name!r} was created",
        ),
        warnings=(f"volume {name!r} has other options; force: True replaces it",) if strange else (),
    )


@state(removes=True)
def absent(ctx: Context, /, name: str, *, driver: str | None = None) -> Result:
    """Make sure that a volume does not exist; its data is lost.

    Args:
        name: the name of the volume.
        driver: remove it only if it has this driver.

    Example:
        ```yaml
        old-data:
          docker_volume.absent
        ```
    """
    docker = engine(ctx)

    def find() -> Seen | None:
        seen = _find(docker, name)
        return None if seen is None or _other_driver(seen, driver) else seen

    if find():
        _refuse_used(docker, name)
    return bring(
        ctx,
        lambda: {"removed": name} if find() else {},
        lambda _: _remove(docker, name),
        facts=lambda: _facts(name, _find(docker, name)),
        words=Words(
            f"Volume {name!r} is not present",
            f"Volume {name!r} would be removed",
            f"Volume {name!r} was removed",
        ),
    )


def _find(docker: Engine, name: str) -> Seen | None:
    return docker.find(f"/volumes/{lifecycle.check_name(name)}")


def _remove(docker: Engine, name: str) -> None:
    docker.ask("DELETE", f"/volumes/{name}")


def _other_driver(seen: Seen, driver: str | None) -> bool:
    return driver is not None and seen.get("Driver") != driver


def _other_options(seen: Seen, wanted: dict[str, str]) -> bool:
    return bool(wanted) and (seen.get("Options") or {}) != wanted


def _refuse_used(docker: Engine, name: str) -> None:
    users: list[dict[str, Any]] = docker.get("/containers/json", {"all": True, "filters": {"volume": [name]}})
    if users:
        names = ", ".join(one["Names"][0].lstrip("/") for one in users)
        raise Refused(f"volume {name!r} is used by {names}; remove that first")


def _facts(name: str, seen: Seen | None) -> Changes:
    if seen is None:
        return {"name": name, "exists": False}
    kept = {"driver": "Driver", "mountpoint": "Mountpoint", "labels": "Labels"}
    reported = {mine: seen.get(theirs) for mine, theirs in kept.items()}
    return {"name": name, "exists": True, **reported, "options": hide_passwords(seen.get("Options"))}
