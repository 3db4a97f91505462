"""``defaults``: default values of formulas, which pillar overrides."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.nested_data import fresh, merge_data


@function
def get(ctx: Context, key: str, default: object = "") -> object:
    """A value from ``defaults.json`` or ``defaults.yaml`` of a formula, unless the pillar has it.

    ``nginx:port`` is ``port`` in ``salt://nginx/defaults.yaml``, unless pillar has ``nginx:port``.

    Example:
        ```console
        $ saltern call defaults.get web:port
        local:
            8080
        ```
    """
    from saltern.targeting.traverse import traverse

    formula, _, inner = key.partition(":")
    known = _read(ctx, formula)
    overrides = ctx.pillar.get(formula)
    if known is not None and isinstance(overrides, Mapping):
        known = merge_data(known, overrides)
    return default if known is None else fresh(traverse(known, inner, default) if inner else known)


def _read(ctx: Context, formula: str) -> object:
    from saltern.render.filters.serialize import load_json, load_yaml

    for name, load in (("defaults.json", load_json), ("defaults.yaml", load_yaml)):
        if path := ctx.files.find(f"{formula}/{name}", ctx.env):
            with open(path, encoding="utf-8") as file:
                return load(file.read())
    return None


@function
def merge(
    ctx: Context,  # noqa: ARG001
    dest: object,
    src: object,
    merge_lists: bool = False,
    in_place: bool = True,
    convert_none: bool = True,
) -> object:
    """Merge ``src`` over ``dest``. ``in_place`` changes ``dest``, too.

    Example:
        ```jinja
        {{ salt['defaults.merge']({'port': 80, 'root': '/var/www'}, {'port': 8080}) }}
        ```
        ```text
        {'port': 8080, 'root': '/var/www'}
        ```
    """
    base: object = {} if dest is None and convert_none else dest
    over: object = {} if src is None and convert_none else src
    result = merge_data(base, over, merge_lists=merge_lists)
    if in_place and isinstance(dest, MutableMapping) and isinstance(result, dict):
        dest.update(result)
        return dest
    return result


@function
def deepcopy(ctx: Context, source: object) -> object:  # noqa: ARG001
    """A copy that shares nothing with the original.

    Example:
        ```jinja
        {% set mine = salt['defaults.deepcopy'](pillar['web']) %}
        {% do mine.update({'port': 81}) %}
        {{ mine['port'] }} {{ pillar['web']['port'] }}
        ```
        ```text
        81 8080
        ```
    """
    return fresh(source)


@function
def update(
    ctx: Context,
    dest: object,
    defaults: object,
    merge_lists: bool = True,
    in_place: bool = True,
    convert_none: bool = True,
) -> object:
    """Merge every mapping in ``dest`` over the same defaults.

    Example:
        ```jinja
        {{ salt['defaults.update']({'site': {'port': 8080}}, {'root': '/var/www'}) }}
        ```
        ```text
        {'site': {'root': '/var/www', 'port': 8080}}
        ```
    """
    if not isinstance(dest, Mapping):
        raise BadArgument("defaults.update needs a mapping of mappings")
    result = {
        key: merge(ctx, fresh(defaults), inner, merge_lists, False, convert_none)
        for key, inner in dest.items()
    }
    if in_place and isinstance(dest, MutableMapping):
        dest.update(result)
        return dest
    return result
