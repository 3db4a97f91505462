"""The file of grains that are set by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.system import files

USUAL = "/etc/saltern/grains"
MISSING = object()


def path_of(ctx: Context) -> str:
    """The configured file, else the one beside the configuration, which overrides the others."""
    settings = ctx.settings
    if settings.grains_file:
        return settings.grains_file
    return os.path.join(os.path.dirname(settings.files[0]), "grains") if settings.files else USUAL


def read(ctx: Context) -> dict[str, object]:
    path = path_of(ctx)
    if not os.path.exists(path):
        return {}
    from saltern.config.files import mapping

    return mapping(path)


def write(ctx: Context, data: Mapping[str, object]) -> None:
    """Write the grains, and update those of the run."""
    from saltern.render.filters.serialize import to_yaml

    path = path_of(ctx)
    old = read(ctx)
    files.make_directories(os.path.dirname(path))
    files.write(path, str(to_yaml(dict(data), False)).encode() if data else b"{}\n")
    ctx.run.refresh(frozenset({"grains"}))
    for key, value in data.items():
        ctx.grains[key] = value
    for key in old.keys() - data.keys():
        if not _found_elsewhere(ctx, key, old[key]):
            ctx.grains.pop(key, None)


def _found_elsewhere(ctx: Context, key: str, old: object) -> bool:
    """True if a grain that was removed from the file also has another source."""
    return key in ctx.grains and ctx.grains[key] != old


def steps(name: str, delimiter: str) -> list[str]:
    parts = name.split(delimiter) if delimiter else [name]
    if not all(parts):
        raise Refused(f"{name!r} is not the name of a grain")
    return parts


def effective(ctx: Context, name: str, delimiter: str) -> object:
    """The current value of a grain from any source; ``MISSING`` if there is none."""
    from saltern.targeting.traverse import traverse

    return traverse(ctx.grains, name, MISSING, delimiter)


def place_value(
    data: Mapping[str, object], base: object, path: list[str], value: object, *, force: bool
) -> dict[str, object]:
    """``data`` with the value at the path. A level that is not a mapping is replaced only with ``force``.

    ``base`` is the current top-level value of the grain: values that were not set by hand are kept.
    """
    key, rest = path[0], path[1:]
    result = dict(data)
    if not rest:
        result[key] = value
        return result
    inner = data.get(key, base)
    if not isinstance(inner, Mapping):
        if inner is not MISSING and inner is not None and not force:
            raise Refused(f"the grain {key!r} has a value, so nothing can be below it; set force: True")
        inner = {}
    result[key] = place_value(inner, inner.get(rest[0], MISSING), rest, value, force=force)
    return result


def remove_path(data: Mapping[str, object], path: list[str]) -> dict[str, object]:
    """``data`` without the path; parents that become empty stay."""
    key, rest = path[0], path[1:]
    result = dict(data)
    if not rest:
        result.pop(key, None)
    elif isinstance(inner := data.get(key), Mapping):
        result[key] = remove_path(inner, rest)
    return result
