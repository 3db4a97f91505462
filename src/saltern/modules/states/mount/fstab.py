"""Mount points, options and fstab entries for the states of ``mount``."""

from __future__ import annotations

import os
from collections.abc import Sequence

from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes
from saltern.modules.api.refused import Refused, one_line
from saltern.modules.lib.tables import fstab, mounts
from saltern.modules.lib.tables.fstab import Entry


def place_of(name: str) -> str:
    if not name.startswith("/"):
        raise Refused(f"{name!r} is not an absolute path")
    return os.path.normpath(name) if len(name) > 1 else name


def options_of(opts: Sequence[str] | None) -> tuple[str, ...]:
    given = [part.strip() for one in opts or () for part in one.split(",") if part.strip()]
    return tuple(one_line(opt, "opts") for opt in given) or ("defaults",)


def entry_of(device: str, name: str, fstype: str, opts: tuple[str, ...], dump: int, pass_num: int) -> Entry:
    return Entry(
        device=device,
        name=name,
        fstype=one_line(fstype, "fstype"),
        opts=",".join(opts),
        dump=str(dump),
        pass_num=str(pass_num),
    )


def keep(ctx: Context, entry: Entry, match_on: fstab.Match, config: str) -> None:
    table = fstab.read(ctx, config)
    fstab.write(ctx, table.with_entry(entry, table.find(entry, match_on)), config)


def facts(ctx: Context, name: str, config: str) -> Changes:
    now = mounts.at(ctx, name)
    kept = any(entry.name == name for entry in fstab.read(ctx, config).entries)
    if now is None:
        return {"name": name, "mounted": False, "persisted": kept}
    known: Changes = {"device": now.device, "fstype": now.fstype, "opts": list(now.opts)}
    return {"name": name, "mounted": True, "persisted": kept, **known}


def drop(ctx: Context, entry: Entry, config: str) -> None:
    """Remove all copies of an entry from fstab."""
    table = fstab.read(ctx, config)
    fstab.write(ctx, fstab.Fstab(tuple(line for line in table.lines if line != entry)), config)
