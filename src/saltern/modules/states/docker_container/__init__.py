"""``docker_container``: containers of a Docker engine. Needs a running engine, and no other program.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

from saltern.language.result import Result, failed
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.params import bind

LAZY: dict[str, str] = {
    "absent": "absent",
    "run": "once",
    "running": "running",
    "stopped": "absent",
}


@state
def mod_watch(ctx: Context, /, name: str, *, sfun: str = "running", **given: object) -> Result:
    """The reaction of a container to a change in a watched state.

    ``running`` recreates it, or sends it the signal that ``watch_action`` names; ``stopped`` and
    ``run`` act as always.

    Example:
        ```yaml
        /srv/web/index.html:
          file.managed:
            - contents: Welcome
            - makedirs: true

        web:
          docker_container.running:
            - image: busybox:1.36
            - command: sleep 3600
            - binds: /srv/web:/srv/web:ro
            - watch:
              - file: /srv/web/index.html
        ```
    """
    from saltern.modules.api.registry import schema

    if sfun == "running":
        from saltern.modules.states.docker_container.running import react

        return react(ctx, name, given)
    if sfun == "stopped":
        from saltern.modules.states.docker_container.absent import stopped

        return stopped.body(ctx, name, **bind(schema(stopped), given))  # type: ignore[arg-type]
    if sfun == "run":
        from saltern.modules.states.docker_container.once import run

        return run.body(ctx, name, **bind(schema(run), given))  # type: ignore[arg-type]
    return failed(f"docker_container.{sfun} cannot react to a watch; use running, stopped or run")
