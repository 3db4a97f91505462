"""Change grains of the grains file, for states and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.refused import Refused
from saltern.modules.lib import grains_file as kept
from saltern.modules.lib.grains_file import MISSING

Changed = tuple[dict[str, object], object]  # the reported changes, and the new value


def _plain(value: object) -> object:
    """The value as plain data, without objects of a template."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def settle(
    ctx: Context,
    name: str,
    delimiter: str,
    decide: Callable[[object], Changed | None],
    words: tuple[str, str, str],
    *,
    force: bool = False,
) -> Result:
    """Read the grain, let ``decide`` determine the new value, write it, and check it."""
    ctx.facts = {"name": name}
    path = kept.steps(name, delimiter)
    old = kept.effective(ctx, name, delimiter)
    decision = decide(old)
    changes, new = decision if decision is not None else ({}, old)
    if changes:
        data = kept.read(ctx)
        top = ctx.grains.get(path[0], MISSING)
        after = kept.place_value(data, top, path, new, force=force)
        if not ctx.test:
            kept.write(ctx, after)
            if kept.effective(ctx, name, delimiter) != new:
                raise Refused(f"{kept.path_of(ctx)} was written, but the grain {name!r} has another value")
    now = kept.effective(ctx, name, delimiter)
    data_now = {"name": name, "value": None if now is MISSING else now, "path": kept.path_of(ctx)}
    return result_of(ctx, changes, Words(words[0], words[1], words[2]), data_now)


def _is_many(value: object) -> bool:
    return isinstance(value, Mapping | list | tuple)


def set_value(ctx: Context, name: str, *, value: object, delimiter: str, force: bool) -> Result:
    """Set the value of a grain, and report it."""

    def decide(old: object) -> Changed | None:
        new = _plain(value)
        if old == new and type(old) is type(new):
            return None
        if old is not MISSING and old is not None and not force and _is_many(old):
            raise Refused(f"the grain {name!r} is a list or a mapping; set force: True to replace it")
        if old is not MISSING and old is not None and not force and _is_many(new):
            raise Refused(f"the grain {name!r} has a value already; set force: True to replace it")
        return {name: new}, new

    words = ("Grain is already set", f"Grain {name} is set to be changed", f"Set grain {name}")
    return settle(ctx, name, delimiter, decide, words, force=force)


def remove_values(ctx: Context, name: str, *, value: object, delimiter: str) -> Result:
    """Remove values from a list."""

    def decide(old: object) -> Changed | None:
        there = as_list(name, old)
        unwanted = plain_values(value)
        gone = [one for one in there if one in unwanted]
        return ({"deleted": gone}, [one for one in there if one not in unwanted]) if gone else None

    words = (
        f"{value} is absent from {name}",
        f"{value} would be removed from {name}",
        f"Removed {value} from {name}",
    )
    return settle(ctx, name, delimiter, decide, words)


def append_value(ctx: Context, name: str, *, value: object, convert: bool, delimiter: str) -> Result:
    """Add one value to a list."""

    def decide(old: object) -> Changed | None:
        if old is MISSING:
            raise Refused(f"Grain {name} does not exist")
        if not isinstance(old, list) and not convert:
            raise Refused(f"Grain {name} is not a valid list; set convert: True to convert it")
        there = list(old) if isinstance(old, list) else [old]
        if value in there and isinstance(old, list):
            return None
        new = there if value in there else [*there, _plain(value)]
        return {"added": _plain(value)}, new

    words = (
        f"Value {value} is already in the list for grain {name}",
        f"Value {value} in grain {name} is set to be added",
        f"Value {value} was added to grain {name}",
    )
    return settle(ctx, name, delimiter, decide, words)


def take_away(ctx: Context, name: str, *, destructive: bool, delimiter: str, force: bool) -> Result:
    """Remove the value of a grain, or the grain itself."""
    if not destructive:
        words = (f"Value for grain {name} is None", f"Value for grain {name} would be None", "")

        def decide(old: object) -> Changed | None:
            _check_many(name, old, force)
            return None if old is MISSING or old is None else ({"grain": name, "value": None}, None)

        done = f"Value for grain {name} was set to None"
        return settle(ctx, name, delimiter, decide, (words[0], words[1], done), force=force)
    ctx.facts = {"name": name}
    return _remove(ctx, name, delimiter, force)


def _check_many(name: str, old: object, force: bool) -> None:
    if _is_many(old) and not force:
        raise Refused(f"the grain {name!r} is a list or a mapping; set force: True to remove it")


def _remove(ctx: Context, name: str, delimiter: str, force: bool) -> Result:
    path = kept.steps(name, delimiter)
    old = kept.effective(ctx, name, delimiter)
    changes: dict[str, object] = {}
    if old is not MISSING:
        _check_many(name, old, force)
        data = kept.read(ctx)
        after = kept.remove_path(data, path)
        if after == data:
            raise Refused(f"the grain {name!r} is not in {kept.path_of(ctx)}; it comes from elsewhere")
        changes["deleted"] = name
        if not ctx.test:
            kept.write(ctx, after)
    return result_of(
        ctx,
        changes,
        Words(
            f"Grain {name} does not exist", f"Grain {name} is set to be deleted", f"Grain {name} was deleted"
        ),
        {"name": name, "value": None, "path": kept.path_of(ctx)},
    )


def as_list(name: str, old: object) -> list[object]:
    if old is MISSING or old is None:
        return []
    if not isinstance(old, list):
        raise Refused(f"Grain {name} is not a valid list")
    return list(old)


def plain_values(value: object) -> list[object]:
    return [_plain(one) for one in value] if isinstance(value, list) else [_plain(value)]
