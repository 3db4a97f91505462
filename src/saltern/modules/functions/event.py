"""``event``: send an event of your own to those who listen to this run.

On a machine of its own an event goes to one place: the run. Outside of a run nothing listens, and the
functions say so with a false.
"""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.events import event_data, mapping


@function
def send(
    ctx: Context,
    /,
    tag: str,
    data: object = None,
    preload: object = None,
    with_env: object = False,
    with_grains: object = False,
    with_pillar: object = False,
    with_env_opts: object = False,
    **kwargs: object,
) -> bool:
    """Send an event; false if there is no listener.

    Args:
        tag: what it is about, with slashes from the general to the special.
        data: what it says: a mapping.
        preload: further keys beside the data.
        with_env: true, or a list of names: add the environment of this process as ``environ``.
        with_grains: true, or a list of names: add the grains as ``grains``.
        with_pillar: true, or a list of names: add the pillar as ``pillar``.
        with_env_opts: add ``saltenv`` and ``pillarenv``.
        **kwargs: further keys of the data.

    Example:
        ```console
        $ saltern call event.send shop/deploy/done '{version: 7}' with_grains='[id]'
        local:
            False
        ```
    """
    said = {**mapping(data), **kwargs}
    full = event_data(
        ctx,
        said,
        preload=preload,
        with_env=with_env,
        with_grains=with_grains,
        with_pillar=with_pillar,
        with_env_opts=with_env_opts,
    )
    return ctx.run.outbox.send(str(tag), full)


@function
def fire(ctx: Context, data: object, tag: str, timeout: object = None) -> bool:  # noqa: ARG001 - never waits
    """Send an event with just this data; false if there is no listener.

    Args:
        data: what it says: a mapping.
        tag: what it is about.
        timeout: not used; nothing is waited for.

    Example:
        ```console
        $ saltern call event.fire '{version: 7}' shop/deploy/done
        local:
            False
        ```
    """
    return ctx.run.outbox.send(str(tag), mapping(data))


@function
def fire_master(
    ctx: Context,
    data: object,
    tag: str,
    preload: object = None,
    timeout: object = None,  # noqa: ARG001 - never waits
) -> bool:
    """The same as ``fire``: a machine on its own has no master.

    Args:
        data: what it says: a mapping.
        tag: what it is about.
        preload: further keys beside the data.
        timeout: not used; nothing is waited for.

    Example:
        ```console
        $ saltern call event.fire_master '{version: 7}' shop/deploy/done
        local:
            False
        ```
    """
    return ctx.run.outbox.send(str(tag), {**mapping(preload), **mapping(data)})
