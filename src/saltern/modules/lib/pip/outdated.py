"""Packages that pip can upgrade."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.lib.pip.command import Pip, normal


def outdated_packages(ctx: Context, pip: Pip) -> dict[str, tuple[str, str]]:
    """Packages with a newer version: the installed version, and the newer one."""
    from msgspec.json import decode

    reported = pip.out(ctx, "list", "--outdated", "--format=json", what="cannot look for newer versions")
    rows = decode(reported[reported.index("[") :] if "[" in reported else "[]", type=list[dict[str, str]])
    return {normal(row["name"]): (row["version"], row["latest_version"]) for row in rows}
