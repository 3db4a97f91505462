"""``grains``: read the facts about this machine, and set custom ones."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from collections.abc import Callable

from saltern.language.result import Result
from saltern.modules.api.attempt import attempt
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.lib import grains_file as kept
from saltern.modules.lib.grain_changes import append_value, remove_values, set_value, take_away
from saltern.modules.lib.nested_data import choose, fresh, laid_over


@function
def get(ctx: Context, key: str, default: object = "", delimiter: str = ":", ordered: bool = True) -> object:
    """The value at ``key`` (``a:b`` is ``b`` in ``a``), or the default.

    Example:
        ```console
        $ saltern call grains.get os_family
        local:
            Debian
        ```
    """
    from saltern.targeting.traverse import traverse

    return fresh(traverse(ctx.grains, key, default, delimiter))


@function
def items(ctx: Context, sanitize: bool = False) -> object:
    """All grains. ``sanitize`` replaces values that identify the machine.

    Example:
        ```console
        $ saltern call grains.items sanitize=true
        ```
    """
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
    """These grains and their values.

    Example:
        ```console
        $ saltern call grains.item id kernel
        local:
            ----------
            id:
                web1
            kernel:
                Linux
        ```
    """
    return {key: get(ctx, key, default) for key in keys}


@function
def fetch(ctx: Context, key: str, default: object = "", delimiter: str = ":", ordered: bool = True) -> object:
    """The same as ``grains.get``.

    Example:
        ```console
        $ saltern call grains.fetch kernel
        local:
            Linux
        ```
    """
    return get(ctx, key, default, delimiter, ordered)


@function
def ls(ctx: Context) -> list[str]:
    """The names of all grains, sorted.

    Example:
        ```console
        $ saltern call grains.ls
        ```
    """
    return sorted(ctx.grains)


@function
def has_value(ctx: Context, key: str) -> bool:
    """True if a grain exists, whatever its value.

    Example:
        ```console
        $ saltern call grains.has_value roles
        local:
            True
        ```
    """
    from saltern.targeting.traverse import traverse

    missing = object()
    return traverse(ctx.grains, key, missing, ":") is not missing


@function
def equals(ctx: Context, key: str, value: object) -> bool:
    """True if the grain has this value, compared as text.

    Example:
        ```console
        $ saltern call grains.equals kernel Linux
        local:
            True
        ```
    """
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
    """The entry of ``lookup_dict`` whose key matches the grain; the base of every ``map.jinja``.

    Args:
        lookup_dict: values by grain value; keys may be globs.
        grain: the grain to compare.
        merge: a mapping to merge over the entry, typically from pillar.
        default: the entry to use if no key matches.
        base: an entry to merge under the one found.

    Example:
        ```jinja
        {% set web = salt['grains.filter_by']({
            'Debian': {'package': 'apache2', 'service': 'apache2'},
            'RedHat': {'package': 'httpd', 'service': 'httpd'},
        }, merge=salt['pillar.get']('apache', {})) %}
        {{ web['package'] }}
        ```
        ```text
        apache2
        ```
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
    """Set a grain in the grains file. Returns ``{result, comment, changes}``.

    Example:
        ```console
        $ saltern call grains.set rack:row 7
        local:
            ----------
            changes:
                ----------
                rack:row:
                    7
            comment:
                Set grain rack:row
            result:
                True
        ```
    """
    return _outcome_of(
        ctx, lambda: set_value(ctx, key, value=val, delimiter=delimiter, force=force or destructive)
    )


@function
def setval(
    ctx: Context, key: str, val: object, destructive: bool = False, refresh_pillar: bool = True
) -> dict[str, object]:
    """Set a grain in the grains file. Returns the grain and its value.

    Example:
        ```console
        $ saltern call grains.setval datacentre berlin
        local:
            ----------
            datacentre:
                berlin
        ```
    """
    return setvals(ctx, {key: val}, destructive)


@function
def setvals(
    ctx: Context, grains: dict[str, object], destructive: bool = False, refresh_pillar: bool = True
) -> dict[str, object]:
    """Set grains in the grains file; with ``destructive``, grains without a value are removed.

    Example:
        ```console
        $ saltern call grains.setvals '{datacentre: berlin, rack: 7}'
        local:
            ----------
            datacentre:
                berlin
            rack:
                7
        ```
    """
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
    """Add a value to a grain that is a list.

    Example:
        ```console
        $ saltern call grains.append roles db
        local:
            ----------
            changes:
                ----------
                added:
                    db
            comment:
                Value db was added to grain roles
            result:
                True
        ```
    """
    if get(ctx, key, None, delimiter) is None:
        set_(ctx, key, [], True, delimiter=delimiter)
    return _outcome_of(ctx, lambda: append_value(ctx, key, value=val, convert=convert, delimiter=delimiter))


@function
def remove(ctx: Context, key: str, val: object, delimiter: str = ":") -> dict[str, object]:
    """Remove a value from a grain that is a list.

    Example:
        ```console
        $ saltern call grains.remove roles web
        local:
            ----------
            changes:
                ----------
                deleted:
                    - web
            comment:
                Removed web from roles
            result:
                True
        ```
    """
    return _outcome_of(ctx, lambda: remove_values(ctx, key, value=val, delimiter=delimiter))


@function
def delval(ctx: Context, key: str, destructive: bool = False) -> dict[str, object]:
    """Remove the value of a grain.

    Example:
        ```console
        $ saltern call grains.delval datacentre
        local:
            ----------
            changes:
                ----------
                grain:
                    datacentre
                value:
                    None
            comment:
                Value for grain datacentre was set to None
            result:
                True
        ```
    """
    return _outcome_of(ctx, lambda: take_away(ctx, key, destructive=destructive, delimiter=":", force=True))


@function
def delkey(ctx: Context, key: str, force: bool = False) -> dict[str, object]:
    """Remove a grain from the grains file.

    Example:
        ```console
        $ saltern call grains.delkey roles force=true
        local:
            ----------
            changes:
                ----------
                deleted:
                    roles
            comment:
                Grain roles was deleted
            result:
                True
        ```
    """
    return _outcome_of(ctx, lambda: take_away(ctx, key, destructive=True, delimiter=":", force=force))


def _outcome_of(ctx: Context, change: Callable[[], Result]) -> dict[str, object]:
    result = attempt(ctx.about(), change)
    return {
        "result": result.outcome.value is not False,
        "comment": result.comment,
        "changes": result.changes,
    }
