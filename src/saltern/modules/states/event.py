"""``event``: send your own events.

An event reaches the reporters of the command (``saltern apply --out jsonl`` prints each event as a line) and,
on a machine of a fleet, the controllers: ``saltern events`` shows it there, and reactions can follow from it.
"""

from __future__ import annotations

from saltern.language.nature import Nature
from saltern.language.result import Outcome, Result, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.params import call_bound
from saltern.modules.api.refused import Refused
from saltern.modules.lib.events import event_data, send_event

NATURE = Nature(repeat="once")


@state
def send(
    ctx: Context,
    /,
    name: str,
    *,
    data: dict[str, object] | None = None,
    preload: dict[str, object] | None = None,
    with_env: object = False,
    with_grains: object = False,
    with_pillar: object = False,
    show_changed: bool = True,
    **kwargs: object,
) -> Result:
    """Send an event, each time the state runs.

    Args:
        name: the tag of the event, with slashes between its parts, the general part first.
        data: the data of the event.
        preload: further keys beside the data.
        with_env: true, or a list of names: add the environment of this process as ``environ``.
        with_grains: true, or a list of names: add the grains as ``grains``.
        with_pillar: true, or a list of names: add the pillar as ``pillar``.
        show_changed: count it as a change; if false, states that watch this one do not react.
        **kwargs: further keys of the data.

    Example:
        ```yaml
        shop/deploy/half-way:
          event.send:
            - data:
                status: the database is ready
            - with_grains: [id, os]
        ```
    """
    tag = _check_tag(name)
    said = {**(data or {}), **kwargs}
    facts: dict[str, object] = {"tag": tag, "data": said}
    changes = dict(facts) if show_changed else {}
    if ctx.test:
        return would_change("Event would have been fired", changes, facts)
    full = event_data(ctx, said, with_env=with_env, with_grains=with_grains, with_pillar=with_pillar)
    send_event(ctx, tag, full, preload)
    return Result(outcome=Outcome.OK, comment="Event fired", changes=changes, data=facts)


def _check_tag(tag: str) -> str:
    if not tag.strip() or "\n" in tag:
        raise Refused(f"{tag!r} cannot be the tag of an event; use a text such as shop/deploy/done")
    return tag


@state
def wait(
    ctx: Context,  # noqa: ARG001 - it acts when something changes
    name: str,
    *,
    data: dict[str, object] | None = None,
    preload: dict[str, object] | None = None,  # noqa: ARG001
    with_env: object = False,  # noqa: ARG001
    with_grains: object = False,  # noqa: ARG001
    with_pillar: object = False,  # noqa: ARG001
    show_changed: bool = True,  # noqa: ARG001
) -> Result:
    """Send an event when a watched state has changed. Takes the arguments of ``send``.

    Args:
        name: the tag of the event.
        data, preload, with_env, with_grains, with_pillar, show_changed: as in ``send``.

    Example:
        ```yaml
        /etc/motd:
          file.managed:
            - contents: Welcome.

        shop/motd/changed:
          event.wait:
            - data:
                file: /etc/motd
            - watch:
              - file: /etc/motd
        ```
    """
    facts: dict[str, object] = {"tag": _check_tag(name), "data": data or {}}
    return Result(outcome=Outcome.OK, comment="Nothing watched has changed", data=facts)


@state
def mod_watch(ctx: Context, /, name: str, *, sfun: str = "wait", **kwargs: object) -> Result:
    """The reaction of ``event.wait`` and ``event.send`` to a change in a watched state: they send.

    Args:
        name: the tag of the event.
        sfun: the function that the state names.
        **kwargs: as in ``send``.

    Example:
        ```yaml
        /etc/issue.net:
          file.managed:
            - contents: The house is empty.

        shop/issue/changed:
          event.wait:
            - watch:
              - file: /etc/issue.net
        ```
    """
    if sfun not in ("wait", "send"):
        raise Refused(f"event.{sfun} cannot react to a watch; use event.wait")
    return call_bound(send.body, ctx, name, kwargs)
