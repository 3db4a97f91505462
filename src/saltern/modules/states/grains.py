"""``grains``: facts about this machine that are set by hand, kept in the grains file."""

from __future__ import annotations

from saltern.language.nature import Nature
from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.grain_changes import (
    Changed,
    append_value,
    as_list,
    plain_values,
    remove_values,
    set_value,
    settle,
    take_away,
)
from saltern.modules.lib.grains_file import MISSING

NATURE = Nature(refreshes=("grains",))


@state
def exists(ctx: Context, name: str, *, delimiter: str = ":") -> Result:
    """Make sure that a grain exists, whatever its value.

    Args:
        name: the grain; ``a:b`` is ``b`` in ``a``.
        delimiter: the separator of the parts of the name.

    Example:
        ```yaml
        roles:
          grains.exists: []
        ```
    """

    def decide(old: object) -> Changed | None:
        if old is MISSING:
            raise Refused("Grain does not exist")
        return None

    return settle(ctx, name, delimiter, decide, ("Grain exists", "", ""))


@state
def present(ctx: Context, name: str, *, value: object, delimiter: str = ":", force: bool = False) -> Result:
    """Make sure that a grain has a value.

    Args:
        name: the grain; ``a:b`` is ``b`` in ``a``.
        value: its value: a text, a number, a list or a mapping.
        delimiter: the separator of the parts of the name.
        force: allow a list or mapping to be replaced, or to replace another value.

    Example:
        ```yaml
        role:
          grains.present:
            - value: web
        ```
    """
    return set_value(ctx, name, value=value, delimiter=delimiter, force=force)


@state
def list_present(ctx: Context, name: str, *, value: object, delimiter: str = ":") -> Result:
    """Make sure that a grain is a list that contains these values.

    Args:
        name: the grain; ``a:b`` is ``b`` in ``a``.
        value: a value, or a list of values.
        delimiter: the separator of the parts of the name.

    Example:
        ```yaml
        roles:
          grains.list_present:
            - value: [cache, db]
        ```
    """

    def decide(old: object) -> Changed | None:
        there = as_list(name, old)
        missing = [one for one in plain_values(value) if one not in there]
        return ({"new": [*there, *missing]}, [*there, *missing]) if missing else None

    words = (f"{value} is already in {name}", f"{value} would be added to {name}", f"Added {value} to {name}")
    return settle(ctx, name, delimiter, decide, words)


@state
def list_absent(ctx: Context, name: str, *, value: object, delimiter: str = ":") -> Result:
    """Make sure that a grain that is a list does not contain these values.

    Args:
        name: the grain; ``a:b`` is ``b`` in ``a``.
        value: a value, or a list of values.
        delimiter: the separator of the parts of the name.

    Example:
        ```yaml
        roles:
          grains.list_absent:
            - value: web
        ```
    """
    return remove_values(ctx, name, value=value, delimiter=delimiter)


@state
def append(ctx: Context, name: str, *, value: object, convert: bool = False, delimiter: str = ":") -> Result:
    """Add a value to a grain that is a list.

    Args:
        name: the grain; ``a:b`` is ``b`` in ``a``.
        value: the value.
        convert: convert a grain that is not a list into one.
        delimiter: the separator of the parts of the name.

    Example:
        ```yaml
        roles:
          grains.append:
            - value: db
        ```
    """
    return append_value(ctx, name, value=value, convert=convert, delimiter=delimiter)


@state(removes=True)
def absent(
    ctx: Context, name: str, *, destructive: bool = False, delimiter: str = ":", force: bool = False
) -> Result:
    """Make sure that a grain has no value.

    Args:
        name: the grain; ``a:b`` is ``b`` in ``a``.
        destructive: remove its name, too.
        delimiter: the separator of the parts of the name.
        force: remove a list or a mapping.

    Example:
        ```yaml
        datacentre:
          grains.absent:
            - destructive: true
        ```
    """
    return take_away(ctx, name, destructive=destructive, delimiter=delimiter, force=force)
