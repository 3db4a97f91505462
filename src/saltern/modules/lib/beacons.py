"""The beacons of a machine: in ``beacons.conf``, the configuration and the pillar."""

from __future__ import annotations

import os
from collections.abc import Mapping

from saltern.language.beacon_options import options_of
from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.schedules import store

NAME = "beacons.conf"
KEY = "beacons"
KNOWN = ("diskusage", "inotify", "load", "log", "memusage", "ps", "service", "status", "systemd")

Rows = dict[str, object]


def path_of(ctx: Context) -> str:
    return os.path.join(os.path.dirname(store.path_of(ctx)), NAME)


def own(ctx: Context) -> Rows:
    """The beacons of the file that the functions write."""
    return _section(path_of(ctx))


def configured_beacons(ctx: Context) -> Rows:
    """The beacons of the other configuration files."""
    mine, found = path_of(ctx), Rows()
    for file in ctx.settings.files:
        if os.path.abspath(file) != mine:
            found |= _section(file)
    return found


def from_pillar(ctx: Context) -> Rows:
    found = ctx.pillar.get(KEY)
    return dict(found) if isinstance(found, Mapping) else {}


def all_beacons(ctx: Context) -> Rows:
    """All beacons; the file that the functions write overrides the others."""
    return {**configured_beacons(ctx), **from_pillar(ctx), **own(ctx)}


def _section(path: str) -> Rows:
    from saltern.config.files import mapping

    found = mapping(path).get(KEY) if os.path.exists(path) else None
    if found is not None and not isinstance(found, Mapping):
        raise Refused(f"{path}: {KEY!r} must be a mapping of beacons")
    return {str(name): value for name, value in (found or {}).items()}


def write(ctx: Context, rows: Rows) -> None:
    from saltern.render.filters.serialize import to_yaml

    path = path_of(ctx)
    ctx.host.makedirs(os.path.dirname(path))
    ctx.host.write(path, str(to_yaml({KEY: rows}, False)), mode=0o600)


def problem_of(name: str, given: object) -> str:
    """Why a beacon cannot be stored; empty if it can."""
    if not isinstance(given, list | Mapping):
        return f"Configuration for {name} beacon must be a list."
    kind = str(options_of(given).get("beacon_module") or name)
    if kind not in KNOWN:
        return f"Beacon {kind} is not available; there are {', '.join(KNOWN)}."
    return ""
