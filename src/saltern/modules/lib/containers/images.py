"""Images: their names, and how to pull, build and load them."""

from __future__ import annotations

import os
from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import registries
from saltern.modules.lib.containers.engine import Engine, Seen
from saltern.modules.lib.containers.stream import built_id, layers, loaded_names, progress

LONG = 3600.0  # seconds between two messages of a pull or a build


def find(engine: Engine, name: str) -> Seen | None:
    return engine.find(f"/images/{check_name(name)}/json")


def the(engine: Engine, name: str) -> Seen:
    """The image with this name or ID. Raises ``Refused`` if there is none."""
    seen = find(engine, name)
    if seen is None:
        raise Refused(f"there is no image {name!r} here")
    return seen


def check_name(name: str) -> str:
    """The name, if it can be part of a request's path."""
    bad = next((sign for sign in name if not (sign.isalnum() or sign in "_.-/:@")), None)
    if not name or bad is not None or ".." in name or name.startswith("/"):
        raise Refused(f"an image name is [registry/]name[:tag], not {name!r}")
    return name


def split(name: str) -> tuple[str, str]:
    """``registry:5000/a/b:tag`` as ``registry:5000/a/b`` and ``tag``; a digest counts as the tag."""
    if "@" in name:
        before, _, digest = name.partition("@")
        return before, digest
    before, _, tag = name.rpartition(":")
    return (before, tag) if before and "/" not in tag else (name, "")


def full_name(name: str, tag: str | None) -> str:
    return f"{name}:{tag}" if tag else name


def pull(ctx: Context, engine: Engine, name: str) -> dict[str, Any]:
    """Pull an image, ``latest`` if no tag is given. Returns its layers."""
    repository, tag = split(check_name(name))
    body = engine.ask(
        "POST",
        "/images/create",
        {"fromImage": repository, "tag": tag or "latest"},
        headers=registries.header(ctx, repository),
        timeout=LONG,
    ).body
    return {"Layers": layers(progress(body))}


def build(
    engine: Engine,
    path: str,
    name: str | None,
    *,
    dockerfile: str | None = None,
    buildargs: dict[str, str] | None = None,
    cache: bool = True,
    rm: bool = True,
) -> str:
    """Build the directory ``path``. Returns the ID of the image."""
    import tempfile

    query: dict[str, object] = {"t": name, "dockerfile": dockerfile, "nocache": not cache, "rm": rm}
    if buildargs:
        query["buildargs"] = buildargs
    with tempfile.TemporaryFile() as archive:
        _pack(path, dockerfile or "Dockerfile", archive)
        archive.seek(0)
        return built_id(progress(engine.ask("POST", "/build", query, body=archive, timeout=LONG).body))


def _pack(path: str, dockerfile: str, into: Any) -> None:
    """Pack the directory into an archive, without the names in ``.dockerignore``."""
    import tarfile

    from saltern.modules.lib.containers.dockerignore import ignore_rule

    if not os.path.isfile(os.path.join(path, dockerfile)):
        raise Refused(f"there is no {dockerfile} in {path!r}")
    with tarfile.open(fileobj=into, mode="w") as archive:
        leave = ignore_rule(path, keep=(dockerfile, ".dockerignore"))
        archive.add(path, arcname=".", filter=lambda one: None if leave(one.name) else one)


def load(engine: Engine, path: str) -> list[str]:
    """Load an archive that ``docker save`` wrote. Returns the names or IDs of its images."""
    with _open_file(path) as archive:
        body = engine.ask("POST", "/images/load", {"quiet": True}, body=archive, timeout=LONG).body
    return loaded_names(progress(body))


def import_archive(engine: Engine, path: str, name: str) -> None:
    """Create an image from a root file system."""
    repository, tag = split(check_name(name))
    query = {"fromSrc": "-", "repo": repository, "tag": tag or "latest"}
    with _open_file(path) as archive:
        progress(engine.ask("POST", "/images/create", query, body=archive, timeout=LONG).body)


def _open_file(path: str) -> Any:
    try:
        return open(path, "rb")
    except OSError as problem:
        raise Refused(f"cannot read {path!r}: {problem.strerror}") from None


def tag(engine: Engine, image: str, name: str) -> None:
    repository, label = split(check_name(name))
    engine.ask("POST", f"/images/{image}/tag", {"repo": repository, "tag": label or "latest"})


def remove(engine: Engine, name: str, *, force: bool = False, prune: bool = True) -> list[dict[str, str]]:
    found: list[dict[str, str]] = engine.data(
        "DELETE", f"/images/{check_name(name)}", {"force": force, "noprune": not prune}
    )
    return found or []


def local(ctx: Context, path: str) -> str:
    """The path of a file of the tree or of the machine."""
    if not path.startswith("salt://"):
        return path
    found = ctx.files.find(path.removeprefix("salt://"), ctx.env)
    if found is None:
        raise Refused(f"{path} is not in the environment {ctx.env!r}")
    return found
