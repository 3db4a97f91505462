"""``docker_image``: images of a Docker engine. Needs a running engine, and no other program.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

from saltern.language.result import Result, failed
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.params import bind

LAZY: dict[str, str] = {"absent": "absent", "present": "present"}


@state
def mod_watch(ctx: Context, /, name: str, *, sfun: str = "present", **given: object) -> Result:
    """The reaction of ``docker_image.present`` to a change in a watched state: it gets the image again.

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
            - watch:
              - file: /srv/web/Dockerfile
        ```
    """
    if sfun != "present":
        return failed(f"docker_image.{sfun} cannot react to a watch; use docker_image.present")
    from saltern.modules.api.registry import schema
    from saltern.modules.states.docker_image.present import present

    return present.body(ctx, name, **bind(schema(present), {**given, "force": True}))  # type: ignore[arg-type]
