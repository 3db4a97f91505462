"""Finds the directories of Salt-style modules. Cheap to import, for runs without such modules.

A kind of module has its own directory: ``_states`` in the file roots, ``states`` (or ``_states``)
below ``extension_modules`` and each of ``module_dirs``. The first file with a name wins.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saltern.config.settings import Settings

# Our name of a kind → Salt's name of its directory.
KINDS: dict[str, str] = {
    "states": "states",
    "functions": "modules",
    "utils": "utils",
    "grains": "grains",
    "renderers": "renderers",
    "pillar": "pillar",
    "tops": "tops",
    "runners": "runners",
    "returners": "returners",
}


def directories(settings: Settings, kind: str) -> list[str]:
    """The directories with modules of a kind, in order of precedence."""
    folder = KINDS[kind]
    candidates = [os.path.join(root, f"_{folder}") for root in _roots(settings)]
    for place in (settings.extension_modules, *settings.module_dirs):
        if place:
            candidates += [os.path.join(place, folder), os.path.join(place, f"_{folder}")]
    candidates += settings.module_dirs if kind == "functions" else []
    return [place for place in dict.fromkeys(candidates) if os.path.isdir(place)]


def present(settings: Settings) -> frozenset[str]:
    """The kinds that have a directory."""
    return frozenset(kind for kind in KINDS if directories(settings, kind))


def _roots(settings: Settings) -> list[str]:
    """All roots; those of the environment in use come first."""
    first = settings.saltenv or "base"
    order = sorted(settings.file_roots, key=lambda env: env != first)
    return [root for env in order for root in settings.file_roots[env]]
