"""The data of an event, with the requested parts of the environment, grains and pillar."""

from __future__ import annotations

import os
from collections.abc import Mapping

from saltern.language import secrets
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument


def event_data(
    ctx: Context,
    data: Mapping[str, object],
    *,
    with_env: object = False,
    with_grains: object = False,
    with_pillar: object = False,
    with_env_opts: object = False,
) -> dict[str, object]:
    """The data of an event with all requested parts."""
    full: dict[str, object] = {}
    parts: tuple[tuple[str, object, Mapping[str, object]], ...] = (
        ("environ", with_env, os.environ),
        ("grains", with_grains, ctx.grains),
        ("pillar", with_pillar, ctx.pillar),
    )
    for key, wanted, values in parts:
        if wanted:
            full[key] = _chosen_values(wanted, values)
    if with_env_opts:
        full |= {"saltenv": ctx.env, "pillarenv": ctx.opts.get("pillarenv")}
    return {**full, **data}


def send_event(
    ctx: Context, tag: str, data: Mapping[str, object], preload: Mapping[str, object] | None = None
) -> bool:
    """Send an event to the listeners of this run, and to the controllers of the fleet; false if there are
    none. Raises ``Refused`` if the agent does not accept it.
    """
    heard = ctx.run.outbox.send(tag, {**(preload or {}), **data})
    if not ctx.run.agent.is_there:
        return heard
    given = {"data": secrets.mask_all(dict(data)), "preload": secrets.mask_all(dict(preload or {}))}
    answer = ctx.run.agent.ask("event", tag=secrets.mask(tag), **given)
    return heard or not answer.get("unheard")  # by a caller over SSH that is not a controller


def _chosen_values(wanted: object, values: Mapping[str, object]) -> dict[str, object]:
    if wanted is True:
        return dict(values)
    names = wanted if isinstance(wanted, list | tuple) else str(wanted).split(",")
    return {str(name): values[str(name)] for name in names if str(name) in values}


def mapping(value: object) -> dict[str, object]:
    """The data of an event. Raises ``BadArgument`` if it is not a mapping."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {str(key): inner for key, inner in value.items()}
    raise BadArgument(f"the data of an event must be a mapping, not {value!r}")
