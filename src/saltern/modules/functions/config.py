"""``config``: a value wherever it is set: the configuration, the grains or pillar."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from collections.abc import Mapping

from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.functions._data import fresh

MISSING = object()


@function
def get(
    ctx: Context,
    key: str,
    default: object = "",
    delimiter: str = ":",
    merge: object = None,
    omit_opts: bool = False,
    omit_pillar: bool = False,
    omit_master: bool = False,
    omit_grains: bool = False,
) -> object:
    """The first of: configuration, grains, pillar, ``master`` in pillar; or the default.

    Args:
        merge: ``recurse`` or ``overwrite``: mappings from all of them in one, the first on top.

    Example:
        ```console
        $ saltern call config.get web:port
        local:
            8080
        ```
    """
    from saltern.targeting.traverse import traverse

    places = _places(ctx, (omit_opts, omit_grains, omit_pillar, omit_master))
    found = [value for place in places if (value := traverse(place, key, MISSING, delimiter)) is not MISSING]
    if not found:
        return default
    if merge and all(isinstance(value, Mapping) for value in found):
        return _together(found, "overwrite" if merge == "overwrite" else "recurse")
    return fresh(found[0])


def _places(ctx: Context, omitted: tuple[bool, ...]) -> list[Mapping[str, object]]:
    master = ctx.pillar.get("master")
    places = (ctx.opts, ctx.grains, ctx.pillar, master if isinstance(master, Mapping) else {})
    return [place for place, omit in zip(places, omitted, strict=True) if not omit]


def _together(found: list[object], strategy: str) -> object:
    from saltern.language.merge import merge

    result: object = {}
    for value in reversed(found):
        result = merge(result, value, strategy=strategy)
    return fresh(result)


@function
def option(
    ctx: Context,
    value: str,
    default: object = None,
    omit_opts: bool = False,
    omit_grains: bool = False,
    omit_pillar: bool = False,
    omit_master: bool = False,
    omit_all: bool = False,
    wildcard: bool = False,
) -> object:
    """The value of one key, which is not taken apart at ``:``. ``wildcard`` gives all that fit a glob.

    Example:
        ```console
        $ saltern call config.option role
        local:
            web
        ```
    """
    omitted = tuple(omit or omit_all for omit in (omit_opts, omit_grains, omit_pillar, omit_master))
    places = _places(ctx, omitted)
    if wildcard:
        return _matching(places, value)
    for place in places:
        if value in place:
            return fresh(place[value])
    return "" if default is None else default


def _matching(places: list[Mapping[str, object]], pattern: str) -> dict[str, object]:
    from fnmatch import fnmatchcase

    result: dict[str, object] = {}
    for place in reversed(places):
        result |= {key: fresh(inner) for key, inner in place.items() if fnmatchcase(str(key), pattern)}
    return result


@function
def merge(ctx: Context, value: str, default: object = "", omit_opts: bool = False) -> object:
    """The value of a key; mappings and lists from all places in one, texts from the first.

    Example:
        ```console
        $ saltern call config.merge web
        local:
            ----------
            names:
                - example.org
                - www.example.org
            port:
                8080
        ```
    """
    found = [place[value] for place in _places(ctx, (omit_opts, False, False, False)) if value in place]
    if not found:
        return default
    if all(isinstance(one, Mapping) for one in found):
        return _together(found, "overwrite")
    if all(isinstance(one, list) for one in found):
        return fresh([item for one in found if isinstance(one, list) for item in one])
    return fresh(found[0])


@function
def items(ctx: Context) -> object:
    """The whole configuration.

    Example:
        ```console
        $ saltern call config.items
        ```
    """
    return fresh(ctx.opts)


@function
def dot_vals(ctx: Context, value: str) -> dict[str, object]:
    """All settings, of pillar and the configuration, that begin with ``value.``.

    Example:
        ```console
        $ saltern call config.dot_vals mail --pillar '{mail.host: mx.example.org}'
        local:
            ----------
            mail.host:
                mx.example.org
        ```
    """
    places = _places(ctx, (False, True, False, True))
    return {
        key: fresh(inner)
        for place in reversed(places)
        for key, inner in place.items()
        if str(key).startswith(f"{value}.")
    }


@function
def valid_fileproto(ctx: Context, uri: str) -> bool:
    """Whether files can be fetched from such an address.

    Example:
        ```console
        $ saltern call config.valid_fileproto salt://web/motd
        local:
            True
        ```
    """
    return uri.partition("://")[0] in ("salt", "http", "https", "ftp", "file")


@function
def manage_mode(ctx: Context, mode: object) -> str | None:
    """A file mode as four octal digits.

    Example:
        ```console
        $ saltern call config.manage_mode 644
        local:
            0644
        ```
    """
    return None if mode is None else str(mode).strip("'\"").removeprefix("0o").lstrip("0").zfill(4)


@function
def backup_mode(ctx: Context, backup: object = "") -> object:
    """The backup mode to use: this one, or the configured one.

    Example:
        ```console
        $ saltern call config.backup_mode minion
        local:
            minion
        ```
    """
    return backup or option(ctx, "backup_mode")
