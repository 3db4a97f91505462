"""Repositories of apk: the lines of one file."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.packages.repositories.model import DesiredRepository, RepositoryPlan

FILE = "/etc/apk/repositories"


def present(ctx: Context, want: DesiredRepository) -> RepositoryPlan:
    return _plan(ctx, want, wanted=want.enabled is not False)


def absent(ctx: Context, want: DesiredRepository) -> RepositoryPlan:
    return _plan(ctx, want, wanted=False)


def configured_repositories(ctx: Context) -> dict[str, dict[str, object]]:
    """All repositories by their line."""
    rows = [row.strip() for row in (ctx.host.read(FILE) or "").splitlines()]
    return {row: {"file": FILE, "disabled": False} for row in rows if row and not row.startswith("#")}


def _plan(ctx: Context, want: DesiredRepository, *, wanted: bool) -> RepositoryPlan:
    """The plan to add or remove a line. A tag (``@edge https://…``) is part of it."""
    line = " ".join(want.name.split())
    if not line or line.startswith("#"):
        raise BadArgument(f"{want.name!r} is not a repository of apk; give its URL or directory")
    path = want.file or FILE
    rows = (ctx.host.read(path) or "").splitlines()
    there = line in rows
    new = [*rows, line] if wanted else [row for row in rows if row != line]

    def act() -> None:
        ctx.host.write(path, "".join(f"{row}\n" for row in new))

    return RepositoryPlan(
        changes={"repo": want.name} if there != wanted else {}, act=act, data={"file": path, "line": line}
    )
