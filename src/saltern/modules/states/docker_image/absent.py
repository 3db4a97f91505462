"""``docker_image.absent``."""

from __future__ import annotations

from typing import Any

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import images
from saltern.modules.lib.containers.engine import Engine, Seen, engine
from saltern.modules.states.docker_image.present import facts


@state(removes=True)
def absent(ctx: Context, /, name: str, *, images: list[str] | None = None, force: bool = False) -> Result:
    """Make sure that an image does not exist.

    Args:
        name: the name of the image, ``name:tag``; the default tag is ``latest``.
        images: several of them, instead of the name.
        force: remove it even if a container uses it.

    Example:
        ```yaml
        example/old:1.0:
          docker_image.absent
        ```
    """
    return _remove(ctx, images or [name], force=force)


def _remove(ctx: Context, targets: list[str], *, force: bool) -> Result:
    docker = engine(ctx)

    def find() -> dict[str, Seen]:
        seen = ((target, images.find(docker, target)) for target in targets)
        return {_tag(target, one): one for target, one in seen if one is not None}

    def act(_: Changes) -> None:
        for tag in find():
            images.remove(docker, tag, force=force)

    if not force:
        for tag, seen in find().items():
            _refuse_used(docker, tag, seen)
    shown = ", ".join(targets)
    return bring(
        ctx,
        lambda: {"removed": sorted(tags)} if (tags := find()) else {},
        act,
        facts=lambda: {target: facts(target, images.find(docker, target)) for target in targets},
        words=Words(f"Not present: {shown}", f"Would be removed: {shown}", f"Removed: {shown}"),
    )


def _tag(target: str, seen: Seen) -> str:
    """The full name of an image; its ID if it has no name."""
    tags: list[str] = seen.get("RepoTags") or []
    full = images.full_name(target, None if images.split(target)[1] else "latest")
    return full if full in tags else tags[0] if tags else str(seen["Id"])


def _refuse_used(docker: Engine, tag: str, seen: Seen) -> None:
    """Refuse to remove the last name of an image that a container uses; other names may be removed."""
    if len(seen.get("RepoTags") or ()) > 1:
        return
    found: list[dict[str, Any]] = docker.get("/containers/json", {"all": True})
    users = [one["Names"][0].lstrip("/") for one in found if one.get("ImageID") == seen["Id"]]
    if users:
        raise Refused(
            f"Image {tag} is used by {', '.join(users)}; set force to True to remove it nevertheless"
        )
