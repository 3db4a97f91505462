"""``salt.wait_for_event``: wait until systems have sent an event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from saltern.language.result import Outcome, Result, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.orchestration import CallRefused, Orchestration, SeenEvent
from saltern.modules.api.refused import Refused
from saltern.modules.lib.orchestration.calls import orchestration_of


@state
def wait_for_event(
    ctx: Context,
    name: str,
    *,
    id_list: object,
    event_id: str = "id",
    timeout: float = 300,
) -> Result:
    """Wait for an event from each of these systems, or with each of these values.

    Events count since the last job of the orchestration: a system that has started while the job that
    restarted it was still being reported is noticed.

    Args:
        name: the tag of the event, with ``*`` and ``?``.
        id_list: the systems, or the values of ``event_id``, to wait for.
        event_id: the key of the event's data that is compared with ``id_list``.
        timeout: seconds after which the state fails.

    Example:
        ```yaml
        reboot:
          salt.function:
            - name: system.reboot
            - tgt: 'web*'

        salt/minion/*/start:
          salt.wait_for_event:
            - id_list: [web1, web2]
            - require:
              - salt: reboot
        ```
    """
    if ctx.test:
        return would_change(f"Orchestration would wait for event '{name}'")
    left = list(id_list) if isinstance(id_list, list | tuple) else [id_list]
    began, seen = ctx.clock.tick(), list[object]()
    for event in _events(orchestration_of(ctx), name):
        for value in _values(event, event_id):
            if value in left:
                left.remove(value)
                seen.append(value)
        took = ctx.clock.tick() - began
        if not left or took > timeout:
            break
    changes: dict[str, object] = {"minions_seen": seen} if seen else {}
    if left:
        missing = ", ".join(map(str, left))
        return Result(
            outcome=Outcome.FAILED,
            comment=f"Timeout value reached.\nnot seen within {timeout:g} seconds: {missing}",
            changes=changes,
        )
    comment = f"All events seen in {ctx.clock.tick() - began:.3f} seconds."
    return Result(outcome=Outcome.OK, comment=comment, changes=changes)


def _events(fleet: Orchestration, tag: str) -> Iterator[SeenEvent | None]:
    try:
        yield from fleet.events(tag)
    except CallRefused as problem:
        raise Refused(str(problem)) from None


def _values(event: SeenEvent | None, key: str) -> Iterable[object]:
    """The values of a key in the event; Salt's own events have them one level deeper."""
    if event is None:
        return ()
    value = event.data.get(key)
    inner = event.data.get("data")
    if value is None and isinstance(inner, Mapping):
        value = inner.get(key)
    return value if isinstance(value, list) else () if value is None else (value,)
