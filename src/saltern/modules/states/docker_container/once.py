"""``docker_container.run``."""

from __future__ import annotations

from typing import Any

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers.once import Once, Reading, run_to_end

UNSUPPORTED = ("watch_action", "start", "shutdown_timeout", "follow")


@state
def run(
    ctx: Context,
    /,
    name: str,
    *,
    image: str | None = None,
    bg: bool = False,
    failhard: bool = True,
    replace: bool = False,
    force: bool = False,
    networks: object = None,
    skip_translate: object = None,
    ignore_collisions: bool = False,
    validate_ip_addrs: bool = True,
    client_timeout: float = 60,
    stdout: bool = True,
    stderr: bool = True,
    timestamps: bool = False,
    tail: str = "all",
    **container: object,
) -> Result:
    """Run a container once, as ``docker run`` does, and report what it printed.

    What it does is unknown before it runs, so it always counts as a change; give it ``creates``, ``onlyif``
    or ``unless``.

    Args:
        name: the name of the container.
        image: the image, ``name:tag``.
        bg: do not wait for it to end.
        failhard: an exit code other than 0 is a failure.
        replace: remove an existing container with that name first; otherwise it is a failure.
        force: remove it even if it runs.
        networks: as in ``docker_container.running``.
        skip_translate: as in ``docker_container.running``.
        ignore_collisions: as in ``docker_container.running``.
        validate_ip_addrs: as in ``docker_container.running``.
        client_timeout: seconds to wait for a response of the engine, not for the container.
        stdout: report what it wrote to stdout.
        stderr: report what it wrote to stderr.
        timestamps: prefix each line with the time.
        tail: the number of last lines to report; ``all`` for all.
        container: all arguments that describe a container, as in ``docker_container.running``:
            ``command``, ``environment``, ``binds``, ``rm``, …

    Example:
        ```yaml
        build-report:
          docker_container.run:
            - image: busybox:1.36
            - command: cp /etc/passwd /out/passwd
            - binds: /srv:/out
            - creates: /srv/passwd
            - rm: true
        ```
    """
    wrong = [one for one in UNSUPPORTED if one in container]
    if wrong or not image:
        raise Refused(
            f"docker_container.run takes no {wrong[0]}" if wrong else "the argument 'image' is missing"
        )
    once = Once(
        ctx,
        name,
        image,
        {**container, "networks": networks},
        skip_translate=skip_translate,
        ignore_collisions=ignore_collisions,
        validate_ip_addrs=validate_ip_addrs,
        client_timeout=client_timeout,
    )
    once.refuse_existing(replace=replace, force=force)
    where = " in the background" if bg else ""
    if ctx.test:
        return Result(
            outcome=Outcome.WOULD_CHANGE,
            comment=f"Container would be run{where}",
            changes={"run": name},
            data={"name": name, "image": image},
            warnings=once.warnings,
        )
    reading = Reading(stdout=stdout, stderr=stderr, timestamps=timestamps, tail=tail)
    done = once.start(bg=bg) if bg else run_to_end(once, reading)
    return _answer(done, once, failhard=failhard, where=where)


def _answer(done: dict[str, Any], once: Once, *, failhard: bool, where: str) -> Result:
    code = done.get("ExitCode")
    comment = f"Container was run{where}" + ("" if code is None else f" and ended with exit code {code}")
    return Result(
        outcome=Outcome.FAILED if failhard and code else Outcome.OK,
        comment=comment,
        changes=done,
        data={"name": once.name, "image": once.image, "exit_code": code},
        warnings=once.warnings,
    )
