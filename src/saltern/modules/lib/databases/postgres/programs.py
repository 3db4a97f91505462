"""The paths of PostgreSQL's programs, and the options for reaching a server."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.programs import has

# Distributions keep programs for administrators out of PATH, in one directory per version.
PLACES = ("/usr/lib/postgresql", "/usr/libexec/postgresql")


def option(ctx: Context, name: str) -> str:
    """An option such as ``postgres.host``, from the configuration or else the pillar; empty if not set."""
    key = f"postgres.{name}"
    value = ctx.opts.get(key) or ctx.pillar.get(key)
    return "" if value is None else str(value)


def program(ctx: Context, name: str) -> str:
    """The path of a program: in ``postgres.bins_dir``, on PATH, or else of the newest installed version."""
    chosen = option(ctx, "bins_dir")
    if chosen:
        return os.path.join(chosen, name)
    if has(name):
        return name
    return next((path for path in _installed_paths(name) if os.access(path, os.X_OK)), name)


def _installed_paths(name: str) -> list[str]:
    found: list[tuple[float, str]] = []
    for place in PLACES:
        for version in os.listdir(place) if os.path.isdir(place) else ():
            if version.replace(".", "", 1).isdigit():
                found.append((float(version), os.path.join(place, version, "bin", name)))
    return [path for _, path in sorted(found, reverse=True)]
