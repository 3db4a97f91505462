"""``pillar``: read the pillar of this machine."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from collections.abc import Mapping

from saltern.language.merge import deep
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.nested_data import choose, fresh, laid_over

MISSING = object()


class _NotGiven:
    """The default of ``default``: ``pillar_raise_on_missing`` raises only if no default is given."""


NOT_GIVEN = _NotGiven()


@function
def get(
    ctx: Context,
    key: str,
    default: object = NOT_GIVEN,
    merge: bool = False,
    merge_nested_lists: bool | None = None,
    delimiter: str = ":",
    pillarenv: str | None = None,
    saltenv: str | None = None,
    unmask: bool | None = None,
) -> object:
    """The value at ``key`` (``a:b`` is ``b`` in ``a``), or the default.

    Args:
        merge: merge the value over the default instead of replacing it; lists are joined.
        merge_nested_lists: also join nested lists; the option ``pillar_merge_lists`` if not given.
        delimiter: the separator of the parts of the key.
        unmask: Salt 3008 hides values in its output unless this is set; here they are never hidden.

    Example:
        ```console
        $ saltern call pillar.get web:port
        local:
            8080
        ```
    """
    from saltern.targeting.traverse import traverse

    raises = default is NOT_GIVEN or default is KeyError
    fallback: object = "" if raises else default
    if not key and not raises:
        return fallback
    found = traverse(ctx.pillar, key, MISSING, delimiter)
    if found is MISSING:
        if raises and ctx.opts.get("pillar_raise_on_missing"):
            raise KeyError(f"Pillar key not found: {key}")
        return fallback
    if merge and not raises:
        lists = ctx.opts.get("pillar_merge_lists") if merge_nested_lists is None else merge_nested_lists
        return _over(fallback, found, bool(lists))
    return fresh(found)


def _over(default: object, found: object, merge_lists: bool) -> object:
    """Merge the pillar value over the default if both have the same type; otherwise the pillar value."""
    if isinstance(default, Mapping) and isinstance(found, Mapping):
        return fresh(deep(default, found, merge_lists))
    if isinstance(default, list) and isinstance(found, list):
        return fresh([*default, *found])
    return fresh(found)


@function
def items(ctx: Context, /, *keys: str, **_: object) -> object:
    """The whole pillar, or only these keys.

    Example:
        ```console
        $ saltern call pillar.items
        local:
            ----------
            role:
                web
            web:
                ----------
                names:
                    - example.org
                    - www.example.org
                port:
                    8080
        ```
    """
    return _pick(ctx, keys, "", ":") if keys else fresh(ctx.pillar)


@function
def item(ctx: Context, /, *keys: str, default: object = "", delimiter: str = ":", **_: object) -> object:
    """These keys and their values.

    Example:
        ```console
        $ saltern call pillar.item role web:port
        local:
            ----------
            role:
                web
            web:port:
                8080
        ```
    """
    return _pick(ctx, keys, default, delimiter)


def _pick(ctx: Context, keys: tuple[str, ...], default: object, delimiter: str) -> dict[str, object]:
    from saltern.targeting.traverse import traverse

    return {key: fresh(traverse(ctx.pillar, key, default, delimiter)) for key in keys}


@function
def raw(ctx: Context, key: str | None = None, unmask: bool | None = None) -> object:
    """The whole pillar, or the value of one top-level key.

    Example:
        ```console
        $ saltern call pillar.raw role
        local:
            web
        ```
    """
    return fresh(ctx.pillar.get(key, {}) if key else ctx.pillar)


@function
def data(ctx: Context, /, *keys: str, **_: object) -> object:
    """The same as ``pillar.items``.

    Example:
        ```console
        $ saltern call pillar.data
        local:
            ----------
            role:
                web
            web:
                ----------
                names:
                    - example.org
                    - www.example.org
                port:
                    8080
        ```
    """
    return items(ctx, *keys)


@function
def ls(ctx: Context, /, *_: str, **_options: object) -> list[str]:
    """The top-level keys of the pillar.

    Example:
        ```console
        $ saltern call pillar.ls
        local:
            - role
            - web
        ```
    """
    return list(ctx.pillar)


@function
def keys(ctx: Context, key: str, delimiter: str = ":", unmask: bool | None = None) -> list[object]:
    """The keys of the mapping at ``key``.

    Example:
        ```console
        $ saltern call pillar.keys web
        local:
            - port
            - names
        ```
    """
    from saltern.targeting.traverse import traverse

    found = traverse(ctx.pillar, key, MISSING, delimiter)
    if found is MISSING:
        raise KeyError(f"Pillar key not found: {key}")
    if not isinstance(found, Mapping):
        raise BadArgument(f"the pillar key {key!r} has no keys: it is not a mapping")
    return list(found)


@function
def fetch(
    ctx: Context,
    key: str,
    default: object = NOT_GIVEN,
    merge: bool = False,
    merge_nested_lists: bool | None = None,
    delimiter: str = ":",
    pillarenv: str | None = None,
    saltenv: str | None = None,
    unmask: bool | None = None,
) -> object:
    """The same as ``pillar.get``.

    Example:
        ```console
        $ saltern call pillar.fetch web:port
        local:
            8080
        ```
    """
    return get(ctx, key, default, merge, merge_nested_lists, delimiter)


@function
def filter_by(
    ctx: Context,
    lookup_dict: dict[str, object],
    pillar: str,
    merge: object = None,
    default: str = "default",
    base: str | None = None,
) -> object:
    """The entry of ``lookup_dict`` whose key matches the value at the pillar key ``pillar``.

    Example:
        ```jinja
        {% set web = salt['pillar.filter_by']({
            'web': {'port': 8080},
            'default': {'port': 80},
        }, pillar='role') %}
        {{ web['port'] }}
        ```
        ```text
        8080
        ```
    """
    found = choose(lookup_dict, get(ctx, pillar, None), default)
    return laid_over(found, merge=merge, base=base, table=lookup_dict)


KINDS = {str: "<str>", int: "<int>", bool: "<bool>", float: "<float>", type(None): "<NoneType>"}


@function
def obfuscate(ctx: Context, /, *keys: str, **_: object) -> object:
    """The pillar with the type of every value instead of the value.

    Example:
        ```console
        $ saltern call pillar.obfuscate
        local:
            ----------
            role:
                <str>
            web:
                ----------
                names:
                    - <str>
                    - <str>
                port:
                    <int>
        ```
    """
    return _mask(items(ctx, *keys))


def _mask(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _mask(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mask(inner) for inner in value]
    return KINDS.get(type(value), f"<{type(value).__name__}>")
