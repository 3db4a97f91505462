"""``docker``: pull, push, build, name and remove images."""

from __future__ import annotations

from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.functions.docker.container_query import the
from saltern.modules.lib.containers import images as store
from saltern.modules.lib.containers import registries
from saltern.modules.lib.containers.engine import engine
from saltern.modules.lib.containers.stream import layers as moved
from saltern.modules.lib.containers.stream import progress


@function
def pull(
    ctx: Context, /, image: str, insecure_registry: bool = False, client_timeout: float = 60, **_: Ignored
) -> dict[str, Any]:  # fmt: skip
    """Pull an image, ``latest`` if no tag is given. Returns ``{Layers: {Pulled, Already_Pulled}}``.

    Args:
        image: its name, ``name:tag``.
        insecure_registry: has no effect: which registries need no TLS is a setting of the engine.
        client_timeout: has no effect: a pull has no time limit.

    Example:
        ```console
        $ saltern call docker.pull busybox:1.36
        ```
    """
    del insecure_registry, client_timeout
    return store.pull(ctx, engine(ctx), image)


@function
def push(ctx: Context, /, image: str, **_: Ignored) -> dict[str, Any]:
    """Push an image to its registry. Returns ``{Layers: {Pushed, Already_Pushed}}``.

    Args:
        image: its name, ``registry/name:tag``.

    Example:
        ```console
        $ saltern call docker.push registry.example.org/web:1.0
        ```
    """
    repository, tag = store.split(store.check_name(image))
    # Engines require the header even if it is empty.
    headers = registries.header(ctx, repository) or {registries.HEADER: registries.encode_entry({})}
    path, query = f"/images/{repository}/push", {"tag": tag or "latest"}
    body = engine(ctx).ask("POST", path, query, headers=headers, timeout=store.LONG).body
    return {"Layers": moved(progress(body))}


@function
def build(
    ctx: Context,
    /,
    path: str,
    repository: str | None = None,
    tag: str | None = None,
    cache: bool = True,
    rm: bool = True,
    dockerfile: str | None = None,
    buildargs: dict[str, object] | None = None,
    **_: Ignored,
) -> dict[str, Any]:
    """Build an image from a directory with a Dockerfile. Returns ``{Id, Image}``.

    Args:
        path: the directory.
        repository: the name of the image.
        tag: its tag; ``latest`` if not given.
        cache: use the cache of earlier builds.
        rm: remove the containers it needed.
        dockerfile: the name of the Dockerfile.
        buildargs: values for the ``ARG`` lines.

    Example:
        ```console
        $ saltern call docker.build /srv/web repository=example/web tag=1.0
        ```
    """
    name = store.full_name(repository, tag or "latest") if repository else None
    args = {str(key): str(value) for key, value in (buildargs or {}).items()}
    made = store.build(engine(ctx), path, name, dockerfile=dockerfile, buildargs=args, cache=cache, rm=rm)
    return {"Id": made, "Image": name}


@function(name="import")
def import_(
    ctx: Context, /, source: str, repository: str, tag: str = "latest", **_: Ignored
) -> dict[str, Any]:
    """Create an image from an archive with a root file system. Returns ``{Id, Image}``.

    Args:
        source: the archive, a path or ``salt://``.
        repository: the name of the image.
        tag: its tag.

    Example:
        ```console
        $ saltern call docker.import /srv/root.tar example/root 1.0
        ```
    """
    docker, name = engine(ctx), f"{repository}:{tag}"
    store.import_archive(docker, store.local(ctx, source), name)
    return {"Id": store.the(docker, name)["Id"], "Image": name}


@function
def load(ctx: Context, path: str, repository: str | None = None, tag: str | None = None) -> dict[str, Any]:
    """Load images that ``docker.save`` wrote. Returns ``{Path, Images}``.

    Args:
        path: the archive, a path or ``salt://``.
        repository: a name for the image, if there is only one.
        tag: a tag for it.

    Example:
        ```console
        $ saltern call docker.load /srv/web.tar
        ```
    """
    docker = engine(ctx)
    came = store.load(docker, store.local(ctx, path))
    if repository:
        if len(came) != 1:
            raise Refused(f"{path} has {len(came)} images; repository can name only one")
        store.tag(docker, came[0], store.full_name(repository, tag))
    return {"Path": path, "Images": came}


@function
def tag(ctx: Context, /, name: str, repository: str, tag: str = "latest", **_: Ignored) -> bool:
    """Add a name to an image.

    Args:
        name: its name or ID.
        repository: the new name.
        tag: the new tag.

    Example:
        ```console
        $ saltern call docker.tag busybox:1.36 example/box 1.0
        ```
    """
    docker = engine(ctx)
    store.tag(docker, store.the(docker, name)["Id"], f"{repository}:{tag}")
    return True


@function
def commit(
    ctx: Context,
    name: str,
    repository: str,
    tag: str = "latest",
    message: str | None = None,
    author: str | None = None,
) -> dict[str, Any]:
    """Create an image from the current state of a container. Returns ``{Id, Image}``.

    Args:
        name: the name or ID of the container.
        repository: the name of the image.
        tag: its tag.
        message: what changed.
        author: who did it.

    Example:
        ```console
        $ saltern call docker.commit web example/web 1.1
        ```
    """
    docker = engine(ctx)
    query = {
        "container": the(docker, name)["Id"],
        "repo": repository,
        "tag": tag,
        "comment": message,
        "author": author,
    }
    made = docker.data("POST", "/commit", query, body={}, timeout=store.LONG)
    return {"Id": made["Id"], "Image": f"{repository}:{tag}"}


@function
def rmi(ctx: Context, *names: str, force: bool = False, prune: bool = True) -> dict[str, list[str]]:
    """Remove images. Returns ``{Layers, Tags}``, the removed IDs and names.

    Args:
        names: their names or IDs.
        force: remove them even if a container uses them.
        prune: also remove parent images that are no longer needed.

    Example:
        ```console
        $ saltern call docker.rmi example/web:1.0 force=True
        ```
    """
    docker = engine(ctx)
    reported = [one for name in names for one in store.remove(docker, name, force=force, prune=prune)]
    return {
        "Layers": [one["Deleted"] for one in reported if "Deleted" in one],
        "Tags": [one["Untagged"] for one in reported if "Untagged" in one],
    }
