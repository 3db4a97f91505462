"""``group``: the groups this machine knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltern.modules.api import function
from saltern.modules.context import Context

if TYPE_CHECKING:
    from grp import struct_group

# ruff: noqa: ARG001 - signatures are Salt's


def _told(entry: struct_group) -> dict[str, object]:
    return {
        "name": entry.gr_name,
        "passwd": entry.gr_passwd,
        "gid": entry.gr_gid,
        "members": list(entry.gr_mem),
    }


@function
def info(ctx: Context, name: str, root: str | None = None) -> dict[str, object]:
    """What the machine knows of a group; empty if it knows none."""
    import grp

    try:
        return _told(grp.getgrnam(str(name)))
    except KeyError:
        return {}


@function
def getent(ctx: Context, refresh: bool = False, root: str | None = None) -> list[dict[str, object]]:
    """All groups."""
    import grp

    return [_told(entry) for entry in grp.getgrall()]
