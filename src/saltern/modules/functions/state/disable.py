"""``state``: states that are disabled on this machine, stored in its grains."""

from __future__ import annotations

from collections.abc import Iterable

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.state.access import names

GRAIN = "state_runs_disabled"


def _disabled_states(ctx: Context) -> list[str]:
    found = ctx.grains.get(GRAIN)
    return [str(one) for one in found] if isinstance(found, list) else []


def _keep(ctx: Context, disabled: Iterable[str]) -> None:
    keep = ctx.functions["grains.setval"]
    keep(GRAIN, list(disabled))


def _switch(ctx: Context, states: object, *, on: bool) -> dict[str, object]:
    have = dict.fromkeys(_disabled_states(ctx))
    said = []
    for name in names(states):
        if (name in have) != on:
            said.append(f"Info: {name} state already {'enabled' if on else 'disabled'}.")
            continue
        have = {one: None for one in have if one != name} if on else {**have, name: None}
        said.append(f"Info: {name} state {'enabled' if on else 'disabled'}.")
    _keep(ctx, have)
    return {"res": True, "msg": "\n".join(said)}


@function
def disable(ctx: Context, states: object) -> dict[str, object]:
    """Disable states on this machine until they are enabled again.

    Args:
        states: patterns for states, such as ``pkg.*``; a list, or text with commas.

    Example:
        ```console
        $ saltern call state.disable 'pkg.*'
        ```
    """
    return _switch(ctx, states, on=False)


@function
def enable(ctx: Context, states: object) -> dict[str, object]:
    """Enable disabled states on this machine.

    Args:
        states: the disabled patterns; a list, or text with commas.

    Example:
        ```console
        $ saltern call state.enable 'pkg.*'
        ```
    """
    return _switch(ctx, states, on=True)


@function
def list_disabled(ctx: Context) -> list[str]:
    """The states that are disabled on this machine.

    Example:
        ```console
        $ saltern call state.list_disabled
        ```
    """
    return _disabled_states(ctx)


@function
def running(ctx: Context, concurrent: bool = False) -> list[str]:  # noqa: ARG001 - Salt's signature
    """Other runs on this machine that a Salt minion started: none.

    Args:
        concurrent: accepted for compatibility with Salt.

    Example:
        ```console
        $ saltern call state.running
        ```
    """
    return []


@function
def clear_cache(ctx: Context) -> list[str]:  # noqa: ARG001 - Salt's signature
    """Do nothing: every run compiles everything.

    Example:
        ```console
        $ saltern call state.clear_cache
        ```
    """
    return []
