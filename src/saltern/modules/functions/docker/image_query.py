"""``docker``: look at images."""

from __future__ import annotations

from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import images as store
from saltern.modules.lib.containers.engine import Engine, engine


@function
def images(ctx: Context, verbose: bool = False, all: bool = False) -> dict[str, Any]:
    """The images, by ID.

    Args:
        verbose: with all that ``inspect_image`` returns, under ``Info``.
        all: with those that others are made of.

    Example:
        ```console
        $ saltern call docker.images
        ```
    """
    docker = engine(ctx)
    found: list[dict[str, Any]] = docker.get("/images/json", {"all": all})
    return {
        one["Id"]: {key: value for key, value in one.items() if key != "Id"}
        | ({"Info": store.the(docker, one["Id"])} if verbose else {})
        for one in found
    }


@function
def list_tags(ctx: Context) -> list[str]:
    """The names of all images.

    Example:
        ```console
        $ saltern call docker.list_tags
        ```
    """
    found: list[dict[str, Any]] = engine(ctx).get("/images/json")
    tags = {tag for one in found for tag in one.get("RepoTags") or ()}
    return sorted(tags - {"<none>:<none>"})


@function
def inspect_image(ctx: Context, name: str) -> dict[str, Any]:
    """All that the engine knows of an image.

    Args:
        name: its name or ID.

    Example:
        ```console
        $ saltern call docker.inspect_image busybox:1.36
        ```
    """
    return store.the(engine(ctx), name)


@function
def resolve_image_id(ctx: Context, name: str) -> str | bool:
    """The whole ID of an image; false if it is not here.

    Args:
        name: its name, or the beginning of its ID.

    Example:
        ```console
        $ saltern call docker.resolve_image_id busybox:1.36
        ```
    """
    seen = store.find(engine(ctx), name)
    return str(seen["Id"]) if seen else False


@function
def resolve_tag(ctx: Context, name: str, all: bool = False) -> object:
    """The name of an image, or its ID if it has none; false if it is not here.

    Args:
        name: its name, or the beginning of its ID.
        all: a list of all its names.

    Example:
        ```console
        $ saltern call docker.resolve_tag busybox
        ```
    """
    seen = store.find(engine(ctx), name)
    if seen is None:
        return False
    tags: list[str] = seen.get("RepoTags") or [seen["Id"]]
    return tags if all else tags[0]


@function
def history(ctx: Context, name: str, quiet: bool = False) -> list[Any]:
    """How an image was made, the first step first.

    Args:
        name: its name or ID.
        quiet: only the commands.

    Example:
        ```console
        $ saltern call docker.history busybox:1.36 quiet=True
        ```
    """
    reported: list[dict[str, Any]] = engine(ctx).get(f"/images/{store.checked(name)}/history")
    steps = list(reversed(reported))
    return [one.get("CreatedBy") for one in steps] if quiet else steps


@function
def layers(ctx: Context, name: str) -> list[str]:
    """The layers of an image.

    Args:
        name: its name or ID.

    Example:
        ```console
        $ saltern call docker.layers busybox:1.36
        ```
    """
    return list(store.the(engine(ctx), name).get("RootFS", {}).get("Layers") or ())


@function
def depends(ctx: Context, name: str) -> dict[str, list[str]]:
    """The containers that are made of an image, and the images that are built on it.

    Args:
        name: its name or ID.

    Example:
        ```console
        $ saltern call docker.depends busybox:1.36
        ```
    """
    docker = engine(ctx)
    key = store.the(docker, name)["Id"]
    running: list[dict[str, Any]] = docker.get("/containers/json", {"all": True})
    others: list[dict[str, Any]] = docker.get("/images/json", {"all": True})
    users = [one["Names"][0].lstrip("/") for one in running if one.get("ImageID") == key]
    return {
        "Containers": sorted(users),
        "Images": [one["Id"] for one in others if one.get("ParentId") == key],
    }


@function
def dangling(ctx: Context, prune: bool = False, force: bool = False) -> object:
    """The images that have no name.

    Args:
        prune: remove them; then it is ``{ID: {Removed, Comment}}``.
        force: even if a container was made of one.

    Example:
        ```console
        $ saltern call docker.dangling prune=True
        ```
    """
    docker = engine(ctx)
    found: list[dict[str, Any]] = docker.get("/images/json", {"filters": {"dangling": ["true"]}})
    keys = [one["Id"] for one in found]
    return {key: _pruned(docker, key, force) for key in keys} if prune else keys


def _pruned(docker: Engine, key: str, force: bool) -> dict[str, object]:
    try:
        store.remove(docker, key, force=force)
    except Refused as problem:
        return {"Removed": False, "Comment": str(problem)}
    return {"Removed": True}
