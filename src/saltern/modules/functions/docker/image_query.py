"""``docker``: query images."""

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
        verbose: add the data of ``inspect_image``, under ``Info``.
        all: include the parents of other images.

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
    """All data of an image.

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
    """The full ID of an image; false if it does not exist.

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
    """The name of an image, or its ID if it has none; false if it does not exist.

    Args:
        name: its name, or the beginning of its ID.
        all: return a list of all its names.

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
    """The history of an image, the first step first.

    Args:
        name: its name or ID.
        quiet: return only the commands.

    Example:
        ```console
        $ saltern call docker.history busybox:1.36 quiet=True
        ```
    """
    reported: list[dict[str, Any]] = engine(ctx).get(f"/images/{store.check_name(name)}/history")
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
    """The containers that use an image, and the images built on it.

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
    """The images without a name.

    Args:
        prune: remove them, and return ``{ID: {Removed, Comment}}``.
        force: remove them even if a container uses them.

    Example:
        ```console
        $ saltern call docker.dangling prune=True
        ```
    """
    docker = engine(ctx)
    found: list[dict[str, Any]] = docker.get("/images/json", {"filters": {"dangling": ["true"]}})
    keys = [one["Id"] for one in found]
    return {key: _prune_image(docker, key, force) for key in keys} if prune else keys


def _prune_image(docker: Engine, key: str, force: bool) -> dict[str, object]:
    try:
        store.remove(docker, key, force=force)
    except Refused as problem:
        return {"Removed": False, "Comment": str(problem)}
    return {"Removed": True}
