"""``docker_image.present``."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from saltern.language.result import Outcome, Result, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import images
from saltern.modules.lib.containers.engine import Engine, Seen, engine

SHORT = len("sha256:") + 12


class Way(Struct, frozen=True):
    """A way to get an image: its verb for comments, and its function."""

    done: str
    get: Callable[[], object]


@state
def present(
    ctx: Context,
    /,
    name: str,
    *,
    tag: str | None = None,
    build: str | None = None,
    load: str | None = None,
    force: bool = False,
    insecure_registry: bool = False,
    client_timeout: float = 60,
    dockerfile: str | None = None,
    buildargs: dict[str, object] | None = None,
    cache: bool = True,
    rm: bool = True,
    sls: object = None,
    **_: Ignored,
) -> Result:
    """Make sure that an image exists: pull, build or load it.

    Args:
        name: the name of the image; for a pull it may include the tag, ``name:tag``.
        tag: its tag; needed with ``build`` and ``load``.
        build: a directory with a Dockerfile to build it from.
        load: an archive that ``docker save`` wrote, a path or ``salt://``.
        force: pull, build or load it even if it exists; this is a change only if the image is another one.
        insecure_registry: has no effect: which registries need no TLS is a setting of the engine.
        client_timeout: seconds to wait for a response of the engine, not for a pull or a build.
        dockerfile: the name of the Dockerfile in ``build``.
        buildargs: values for the ``ARG`` lines of the Dockerfile; never shown.
        cache: let a build use the cache of earlier builds.
        rm: remove the containers a build needed.
        sls: refused: states are not applied inside images here; write a Dockerfile, and use ``build``.

    Example:
        ```yaml
        /srv/web/Dockerfile:
          file.managed:
            - makedirs: true
            - contents: |
                FROM busybox:1.36
                CMD ["sleep", "3600"]

        example/web:
          docker_image.present:
            - build: /srv/web
            - tag: '1.0'
            - require:
              - file: /srv/web/Dockerfile
        ```
    """
    if sls is not None:
        raise Refused("docker_image.present cannot apply sls; write a Dockerfile and use build")
    if build and load:
        raise Refused("give one of build and load, not both")
    if (build or load) and not tag:
        raise Refused(f"the argument 'tag' is missing; {'build' if build else 'load'} needs it")
    docker, full = engine(ctx, client_timeout), images.check_name(images.full_name(name, tag))
    given = {str(key): str(value) for key, value in (buildargs or {}).items()}

    def build_image() -> object:
        return images.build(
            docker, str(build), full, dockerfile=dockerfile, buildargs=given, cache=cache, rm=rm
        )

    way = Way("pulled", lambda: images.pull(ctx, docker, full))
    if build:
        way = Way("built", build_image)
    elif load:
        way = Way("loaded", lambda: _load(ctx, docker, str(load), full))
    warnings = ("insecure_registry has no effect; the engine has its own list",) if insecure_registry else ()
    return _again(ctx, docker, full, way) if force else _once(ctx, docker, full, way, warnings)


def _load(ctx: Context, docker: Engine, path: str, full: str) -> None:
    came = images.load(docker, images.local(ctx, path))
    if full not in came:
        if len(came) != 1:
            raise Refused(
                f"{path} has {len(came)} images, none of them {full}; load an archive with one image"
            )
        images.tag(docker, came[0], full)


def _once(ctx: Context, docker: Engine, full: str, way: Way, warnings: tuple[str, ...]) -> Result:
    return bring(
        ctx,
        lambda: {} if images.find(docker, full) else {full: {"old": None, "new": way.done}},
        lambda _: way.get(),
        facts=lambda: facts(full, images.find(docker, full)),
        words=Words(
            f"Image {full} is already present",
            f"Image {full} would be {way.done}",
            f"Image {full} was {way.done}",
        ),
        warnings=warnings,
    )


def _again(ctx: Context, docker: Engine, full: str, way: Way) -> Result:
    """Get the image again; whether it is another one is known only afterwards."""
    before = images.find(docker, full)
    old = before["Id"][:SHORT] if before else None
    changes: Changes = {full: {"old": old, "new": way.done}}
    if ctx.test:
        comment, reported = f"Image {full} would be {way.done}", facts(full, before)
        return would_change(comment, changes, reported)
    way.get()
    after = images.find(docker, full)
    if after is None:
        return Result(outcome=Outcome.FAILED, comment=f"Image {full} was {way.done}, but does not exist")
    if before and before["Id"] == after["Id"]:
        comment = f"Image {full} was {way.done}, but there were no changes"
        return Result(outcome=Outcome.OK, comment=comment, data=facts(full, after))
    comment = f"Image {full} was {way.done}"
    return Result(outcome=Outcome.OK, comment=comment, changes=changes, data=facts(full, after))


def facts(name: str, seen: Seen | None) -> Changes:
    """The facts about an image, without its environment."""
    if seen is None:
        return {"name": name, "exists": False}
    kept = {"id": "Id", "tags": "RepoTags", "digests": "RepoDigests", "size": "Size", "created": "Created"}
    return {"name": name, "exists": True, **{mine: seen.get(theirs) for mine, theirs in kept.items()}}
