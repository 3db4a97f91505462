"""``grains``: read what this machine is, and set what it is told to be."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.functions._data import choose, fresh, laid_over


@function
def get(ctx: Context, key: str, default: object = "", delimiter: str = ":", ordered: bool = True) -> object:
    """The value at ``key`` (``a:b`` goes down into it), or the default."""
    from saltern.targeting.traverse import traverse

    return fresh(traverse(ctx.grains, key, default, delimiter))


@function
def items(ctx: Context, sanitize: bool = False) -> object:
    """All grains. ``sanitize`` replaces what identifies the machine."""
    found = fresh(ctx.grains)
    if sanitize and isinstance(found, dict):
        found |= {key: text for key, text in SANITIZED.items() if key in found}
    return found


SANITIZED: dict[str, str] = {"serialnumber": "FFFFFFFFFFFFF", "domain": "DOMAINNAME", "host": "MINION"} | {
    "fqdn": "MINION.DOMAINNAME",
    "id": "MINION",
}


@function
def item(ctx: Context, /, *keys: str, default: object = "", **_: object) -> dict[str, object]:
    """These grains and their values."""
    return {key: get(ctx, key, default) for key in keys}


@function
def fetch(ctx: Context, key: str, default: object = "", delimiter: str = ":", ordered: bool = True) -> object:
    """The same as ``grains.get``."""
    return get(ctx, key, default, delimiter, ordered)


@function
def ls(ctx: Context) -> list[str]:
    """The names of all grains, sorted."""
    return sorted(ctx.grains)


@function
def has_value(ctx: Context, key: str) -> bool:
    """Whether there is such a grain, whatever its value."""
    from saltern.targeting.traverse import traverse

    missing = object()
    return traverse(ctx.grains, key, missing, ":") is not missing


@function
def equals(ctx: Context, key: str, value: object) -> bool:
    """Whether the grain has this value, compared as text."""
    return str(value) == str(get(ctx, key))


@function
def filter_by(
    ctx: Context,
    lookup_dict: dict[str, object],
    grain: str = "os_family",
    merge: object = None,
    default: str = "default",
    base: str | None = None,
) -> object:
    """The entry of ``lookup_dict`` whose key fits the grain; the base of every ``map.jinja``.

    Args:
        lookup_dict: values by grain value; keys may be globs.
        grain: which grain to look at.
        merge: a mapping to lay over the entry, typically from pillar.
        default: the entry to take when no key fits.
        base: an entry to lay under the one found.
    """
    found = choose(lookup_dict, get(ctx, grain, None), default)
    return laid_over(found, merge=merge, base=base, table=lookup_dict)


# -- grains that are set by hand -------------------------------------------------------------


@function(name="set")
def set_(
    ctx: Context,
    key: str,
    val: object = "",
    force: bool = False,
    destructive: bool = False,
    delimiter: str = ":",
) -> dict[str, object]:
    """Give a grain a value in the grains file: ``{result, comment, changes}``."""
    from saltern.modules.states.grains import present

    return _told(present(ctx, key, value=val, delimiter=delimiter, force=force or destructive))


@function
def setval(
    ctx: Context, key: str, val: object, destructive: bool = False, refresh_pillar: bool = True
) -> dict[str, object]:
    """Give a grain a value in the grains file; the grain and its value."""
    return setvals(ctx, {key: val}, destructive)


@function
def setvals(
    ctx: Context, grains: dict[str, object], destructive: bool = False, refresh_pillar: bool = True
) -> dict[str, object]:
    """Give grains values in the grains file; with ``destructive`` one without a value is removed."""
    from saltern.modules.params import BadArgument
    from saltern.modules.states import _grains_file as kept

    if not isinstance(grains, dict):
        raise BadArgument("grains.setvals needs a mapping of grains to values")
    gone = {key for key, value in grains.items() if destructive and value is None}
    data = {key: value for key, value in {**kept.read(ctx), **grains}.items() if key not in gone}
    kept.write(ctx, data)
    return grains


@function
def append(
    ctx: Context, key: str, val: object, convert: bool = False, delimiter: str = ":"
) -> dict[str, object]:
    """Add a value to a grain that is a list."""
    from saltern.modules.states.grains import append as appended

    if get(ctx, key, None, delimiter) is None:
        set_(ctx, key, [], True, delimiter=delimiter)
    return _told(appended(ctx, key, value=val, convert=convert, delimiter=delimiter))


@function
def remove(ctx: Context, key: str, val: object, delimiter: str = ":") -> dict[str, object]:
    """Remove a value from a grain that is a list."""
    from saltern.modules.states.grains import list_absent

    return _told(list_absent(ctx, key, value=val, delimiter=delimiter))


@function
def delval(ctx: Context, key: str, destructive: bool = False) -> dict[str, object]:
    """Take the value of a grain away."""
    from saltern.modules.states.grains import absent

    return _told(absent(ctx, key, destructive=destructive, force=True))


@function
def delkey(ctx: Context, key: str, force: bool = False) -> dict[str, object]:
    """Remove a grain from the grains file."""
    from saltern.modules.states.grains import absent

    return _told(absent(ctx, key, destructive=True, force=force))


def _told(result: Result) -> dict[str, object]:
    return {
        "result": result.outcome.value is not False,
        "comment": result.comment,
        "changes": result.changes,
    }
