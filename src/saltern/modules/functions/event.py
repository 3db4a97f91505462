"""``event``: send your own events.

An event goes to the run, if there is one, and on a machine of a fleet to the controllers: the agent stores it
and sends it until they have received it. Without a listener the functions return false.
"""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.events import event_data, mapping, send_event


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
        tag: its tag, with slashes between its parts, the general part first.
        data: the data of the event: a mapping.
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
        with_env=with_env,
        with_grains=with_grains,
        with_pillar=with_pillar,
        with_env_opts=with_env_opts,
    )
    return send_event(ctx, str(tag), full, mapping(preload))


@function
def fire(ctx: Context, data: object, tag: str, timeout: object = None) -> bool:  # noqa: ARG001 - never waits
    """Send an event with exactly this data; false if there is no listener.

    Args:
        data: the data of the event: a mapping.
        tag: its tag.
        timeout: not used; the function does not wait.

    Example:
        ```console
        $ saltern call event.fire '{version: 7}' shop/deploy/done
        local:
            False
        ```
    """
    return send_event(ctx, str(tag), mapping(data))


@function
def fire_master(
    ctx: Context,
    data: object,
    tag: str,
    preload: object = None,
    timeout: object = None,  # noqa: ARG001 - never waits
) -> bool:
    """Send an event to the controllers; on a machine that is in no fleet, the same as ``fire``.

    Args:
        data: the data of the event: a mapping.
        tag: its tag.
        preload: further keys beside the data.
        timeout: not used; the function does not wait.

    Example:
        ```console
        $ saltern call event.fire_master '{version: 7}' shop/deploy/done
        local:
            False
        ```
    """
    return send_event(ctx, str(tag), mapping(data), mapping(preload))
