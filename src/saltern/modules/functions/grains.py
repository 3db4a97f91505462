"""``grains``: read what this machine is."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

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
    """Whether there is such a grain, and it is not empty or false."""
    return bool(get(ctx, key, None))


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
