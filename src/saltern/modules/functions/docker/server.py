"""``docker``: the engine itself, and registries."""

from __future__ import annotations

import re
from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import images, lifecycle, registries
from saltern.modules.lib.containers.engine import engine

PRUNED = ("containers", "networks", "images", "volumes", "build")


@function
def version(ctx: Context) -> dict[str, Any]:
    """The versions of the engine; ``VersionInfo`` and ``ApiVersionInfo`` as numbers.

    Example:
        ```console
        $ saltern call docker.version
        ```
    """
    reported: dict[str, Any] = engine(ctx).get("/version")
    for key in ("Version", "ApiVersion"):
        reported[f"{key}Info"] = [
            int(part) for part in re.findall(r"\d+", str(reported.get(key, "")).partition("+")[0])
        ]
    return reported


@function
def info(ctx: Context) -> dict[str, Any]:
    """The engine's information about itself.

    Example:
        ```console
        $ saltern call docker.info
        ```
    """
    reported: dict[str, Any] = engine(ctx).get("/info")
    return reported


@function
def inspect(ctx: Context, name: str) -> dict[str, Any]:
    """All data of the container, image, volume or network with this name.

    Args:
        name: the name or ID.

    Example:
        ```console
        $ saltern call docker.inspect web
        ```
    """
    docker = engine(ctx)
    paths = [f"/images/{images.check_name(name)}/json"]
    if "/" not in name and ":" not in name:  # only images have such names
        lifecycle.check_name(name)
        paths = [f"/containers/{name}/json", *paths, f"/volumes/{name}", f"/networks/{name}"]
    found = next((one for one in map(docker.find, paths) if one is not None), None)
    if found is None:
        raise Refused(f"there is no container, image, volume or network {name!r}")
    return found


@function
def prune(
    ctx: Context,
    containers: bool = False,
    networks: bool = False,
    images: bool = False,
    build: bool = False,
    volumes: bool = False,
    system: bool | None = None,
) -> dict[str, Any]:
    """Remove unused objects. Returns what was removed, by kind.

    Args:
        containers: containers that do not run.
        networks: networks without containers.
        images: images without a name.
        build: the build cache.
        volumes: volumes that no container uses.
        system: all but volumes; the default.

    Example:
        ```console
        $ saltern call docker.prune containers=True
        ```
    """
    named = {"containers": containers, "networks": networks, "images": images, "build": build}
    whole = system if system is not None else not (any(named.values()) or volumes)
    wanted = {**{kind: whole or asked for kind, asked in named.items()}, "volumes": volumes}
    docker = engine(ctx)
    return {kind: docker.data("POST", f"/{kind}/prune", timeout=3600) for kind in PRUNED if wanted[kind]}


@function
def login(ctx: Context, *registries_: str) -> dict[str, Any]:
    """Log in to the registries of the pillar, and store the logins for the ``docker`` program, too.

    Args:
        registries_: only these.

    Example:
        ```console
        $ saltern call docker.login registry.example.org
        ```
    """
    known = registries.configured_registries(ctx)
    chosen = {one: entry for one, entry in known.items() if not registries_ or one in registries_}
    missing = [one for one in registries_ if one not in known]
    if missing or not chosen:
        raise Refused(f"docker-registries in the pillar has no {', '.join(missing) or 'registry'}")
    results: dict[str, bool] = {}
    errors: list[str] = []
    for one, entry in chosen.items():
        results[one] = _logged_in(ctx, one, entry, errors)
    return {"Results": results, "Errors": errors}


def _logged_in(ctx: Context, address: str, entry: dict[str, str], errors: list[str]) -> bool:
    server = registries.HUB if registries.host(address) == "docker.io" else address
    try:
        engine(ctx).ask("POST", "/auth", body={**entry, "serveraddress": server})
    except Refused as problem:
        errors.append(f"{address}: {problem}")
        return False
    registries.remember(ctx, address, entry)
    return True


@function
def logout(ctx: Context, *registries_: str) -> dict[str, Any]:
    """Remove stored logins.

    Args:
        registries_: only these; those of the pillar if none is given.

    Example:
        ```console
        $ saltern call docker.logout registry.example.org
        ```
    """
    chosen = registries_ or tuple(registries.configured_registries(ctx))
    for one in chosen:
        registries.remember(ctx, one, None)
    return {"Results": dict.fromkeys(chosen, True)}


@function
def search(ctx: Context, name: str, official: bool = False, trusted: bool = False) -> dict[str, Any]:
    """Search for an image in Docker's registry.

    Args:
        name: the search term.
        official: only official ones.
        trusted: only automated builds.

    Example:
        ```console
        $ saltern call docker.search busybox official=True
        ```
    """
    found: list[dict[str, Any]] = engine(ctx).get("/images/search", {"term": name})
    return {
        one["name"]: {
            "Description": one.get("description"),
            "Official": one.get("is_official"),
            "Stars": one.get("star_count"),
            "Trusted": one.get("is_automated"),
        }
        for one in found
        if (one.get("is_official") or not official) and (one.get("is_automated") or not trusted)
    }
