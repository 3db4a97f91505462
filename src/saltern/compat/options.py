"""``__opts__``: the configuration in the form that Salt-style modules expect."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from saltern.config.settings import cache_directory

if TYPE_CHECKING:
    from saltern.compat.library import Library
    from saltern.modules.api.context import Context


def options(ctx: Context, library: Library) -> dict[str, Any]:
    """The options of the run, with the defaults of a Salt minion; ``test`` is that of the call."""
    settings = ctx.settings
    cache = str(ctx.opts.get("cachedir") or cache_directory(settings))
    return {
        **library.salt.defaults,
        **_without_empty(ctx.opts),
        "test": ctx.test,
        "saltenv": settings.saltenv or ctx.env,
        "cachedir": cache,
        "extension_modules": settings.extension_modules or os.path.join(cache, "extmods"),
        "file_roots": {env: list(roots) for env, roots in settings.file_roots.items()},
        "pillar_roots": {env: list(roots) for env, roots in settings.pillar_roots.items()},
        "grains": ctx.grains,
        "pillar": ctx.pillar,
        "id": settings.id,
        "file_client": "local",
        "conf_file": settings.files[0] if settings.files else "",
    }


def _without_empty(opts: dict[str, object]) -> dict[str, Any]:
    """The options without empty ones: for Salt, an empty option is not set."""
    return {key: value for key, value in opts.items() if value != "" and key != "grains"}


def installed_defaults() -> dict[str, Any]:
    """The defaults of an installed Salt, some of which it reads without checking that they exist."""
    try:
        from salt.config import DEFAULT_MINION_OPTS  # type: ignore[import-not-found,unused-ignore]
    except Exception:
        return {}
    return {**_thaw(DEFAULT_MINION_OPTS), "__role": "minion", "multiprocessing": False, "local": True}


def _thaw(value: Any) -> Any:
    """A plain copy: Salt has immutable types of its own for defaults."""
    if isinstance(value, Mapping):
        return {key: _thaw(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_thaw(inner) for inner in value]
    return value
