"""``beacons``: what the agent of this machine watches and reports as events.

They are in the configuration, in pillar, and in the file ``beacons.conf`` that these functions write among
the included files of the configuration. The agent reads them again after each job that changes something.
"""

from __future__ import annotations

from collections.abc import Callable

from saltern.language.beacon_options import options_of
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib import beacons as lib

Reply = dict[str, object]


def _answer(comment: str, *, fine: bool = True, changes: object = None) -> Reply:
    return {"comment": comment, "result": fine, **({"changes": changes} if changes else {})}


@function(name="list")
def list_beacons(
    ctx: Context, return_yaml: bool = True, include_pillar: bool = True, include_opts: bool = True
) -> object:
    """The beacons of this machine, as YAML.

    Args:
        return_yaml: false returns data.
        include_pillar: include those of the pillar.
        include_opts: include those of the configuration.

    Example:
        ```console
        $ saltern call beacons.list
        ```
    """
    found = {
        **(lib.configured_beacons(ctx) if include_opts else {}),
        **(lib.from_pillar(ctx) if include_pillar else {}),
        **lib.own(ctx),
    }
    if not return_yaml:
        return found
    from saltern.render.filters.serialize import to_yaml

    return str(to_yaml({lib.KEY: found}, False)) if found else {lib.KEY: {}}


@function
def list_available(ctx: Context, return_yaml: bool = True) -> object:  # noqa: ARG001 - the same everywhere
    """The available beacons.

    Args:
        return_yaml: false returns data.

    Example:
        ```console
        $ saltern call beacons.list_available return_yaml=false
        ```
    """
    if not return_yaml:
        return list(lib.KNOWN)
    from saltern.render.filters.serialize import to_yaml

    return str(to_yaml({lib.KEY: list(lib.KNOWN)}, False))


def _change(ctx: Context, name: str, test: object, word: str, make: Callable[[lib.Rows], lib.Rows]) -> Reply:
    before = lib.own(ctx)
    after = make(dict(before))
    if test:
        return _answer(f"Beacon: {name} would be {word}.")
    lib.write(ctx, after)
    changes = {name: {"old": before.get(name), "new": after.get(name)}}
    return _answer(f"{word.capitalize()} beacon: {name}.", changes=changes)


@function
def add(ctx: Context, /, name: str, beacon_data: object, **kwargs: object) -> Reply:
    """Add a beacon.

    Args:
        name: its name; any name if ``beacon_module`` is among its options.
        beacon_data: its options, as in the configuration.
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call beacons.add ps '[{processes: {cron: stopped}}]'
        ```
    """
    if name in lib.all_beacons(ctx):
        return _answer(f"Beacon {name} is already configured.")
    if problem := lib.problem_of(name, beacon_data):
        return _answer(problem, fine=False)
    return _change(ctx, name, kwargs.get("test"), "added", lambda rows: {**rows, name: beacon_data})


@function
def modify(ctx: Context, /, name: str, beacon_data: object, **kwargs: object) -> Reply:
    """Replace a beacon.

    Args:
        name: its name.
        beacon_data: its options.
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call beacons.modify ps '[{processes: {cron: running}}]'
        ```
    """
    if name not in lib.all_beacons(ctx):
        return add(ctx, name, beacon_data, **kwargs)
    if problem := lib.problem_of(name, beacon_data):
        return _answer(problem, fine=False)
    if lib.all_beacons(ctx)[name] == beacon_data:
        return _answer(f"Job {name} in correct state")
    return _change(ctx, name, kwargs.get("test"), "modified", lambda rows: {**rows, name: beacon_data})


@function
def delete(ctx: Context, /, name: str, **kwargs: object) -> Reply:
    """Remove a beacon from the file.

    Args:
        name: its name.
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call beacons.delete ps
        ```
    """
    if name in lib.from_pillar(ctx) and name not in lib.own(ctx):
        return _answer(f"Cannot delete beacon item {name}, it is configured in pillar.", fine=False)
    if name not in lib.own(ctx):
        return _answer(f"Beacon {name} is not configured here.", fine=name not in lib.all_beacons(ctx))
    test = kwargs.get("test")
    return _change(ctx, name, test, "deleted", lambda rows: {k: v for k, v in rows.items() if k != name})


def _switch(ctx: Context, on: bool, test: object) -> Reply:
    word = "enabled" if on else "disabled"
    if test:
        return _answer(f"Beacons would be {word}.")
    lib.write(ctx, {**lib.own(ctx), "enabled": on})
    return _answer(f"{word.capitalize()} beacons on minion.")


@function
def enable(ctx: Context, /, **kwargs: object) -> Reply:
    """Enable the beacons.

    Args:
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call beacons.enable
        ```
    """
    return _switch(ctx, True, kwargs.get("test"))


@function
def disable(ctx: Context, /, **kwargs: object) -> Reply:
    """Disable all beacons.

    Args:
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call beacons.disable
        ```
    """
    return _switch(ctx, False, kwargs.get("test"))


def _switch_one(ctx: Context, name: str, on: bool, test: object) -> Reply:
    known = lib.all_beacons(ctx)
    word = "enabled" if on else "disabled"
    if name not in known:
        return _answer(f"Beacon {name} is not currently configured.", fine=False)
    row = [{key: value} for key, value in {**options_of(known[name]), "enabled": on}.items()]
    return _change(ctx, name, test, word, lambda rows: {**rows, name: row})


@function
def enable_beacon(ctx: Context, /, name: str, **kwargs: object) -> Reply:
    """Enable a beacon.

    Args:
        name: its name.
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call beacons.enable_beacon ps
        ```
    """
    return _switch_one(ctx, name, True, kwargs.get("test"))


@function
def disable_beacon(ctx: Context, /, name: str, **kwargs: object) -> Reply:
    """Disable a beacon, but keep it.

    Args:
        name: its name.
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call beacons.disable_beacon ps
        ```
    """
    return _switch_one(ctx, name, False, kwargs.get("test"))


@function
def save(ctx: Context, /, **kwargs: object) -> Reply:  # noqa: ARG001 - changes are kept at once
    """Do nothing: changes by these functions are in the file at once.

    Args:
        **kwargs: not used.

    Example:
        ```console
        $ saltern call beacons.save
        ```
    """
    return _answer(f"Beacons saved to {lib.path_of(ctx)}.")


@function
def reset(ctx: Context, /, **kwargs: object) -> Reply:
    """Remove all beacons from the file.

    Args:
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call beacons.reset
        ```
    """
    if kwargs.get("test"):
        return _answer("Beacons would be reset.")
    lib.write(ctx, {})
    return _answer("Beacon configuration reset.")
