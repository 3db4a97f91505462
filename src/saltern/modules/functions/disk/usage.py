"""``disk``: usage of file systems."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.api.programs import tool

COLUMNS = ("filesystem", "1K-blocks", "used", "available", "capacity")


@function
def usage(ctx: Context, args: str | None = None) -> dict[str, object]:
    """The size and usage of all mounted file systems, in KiB. ``args`` are option letters for ``df``.

    Example:
        ```console
        $ saltern call disk.usage
        ```
    """
    return _df(ctx, "-kP", args, COLUMNS)


@function
def inodeusage(ctx: Context, args: str | None = None) -> dict[str, object]:
    """The inodes and their usage of all mounted file systems.

    Example:
        ```console
        $ saltern call disk.inodeusage
        ```
    """
    return _df(ctx, "-iP", args, ("filesystem", "inodes", "used", "free", "use"))


def _df(ctx: Context, flags: str, args: str | None, columns: tuple[str, ...]) -> dict[str, object]:
    if args and not args.isalpha():
        raise BadArgument(f"disk takes letters that df takes, such as 'l', not {args!r}")
    ran = ctx.host.run(["df", flags + (args or "")], env={"LC_ALL": "C"})
    rows = (line.split(None, 5) for line in ran.out.splitlines()[1:])
    return {row[5]: dict(zip(columns, row, strict=False)) for row in rows if len(row) == 6}


@function
def percent(ctx: Context, args: str | None = None) -> object:
    """The usage of each file system, or of the one mounted here, as a percentage.

    Example:
        ```console
        $ saltern call disk.percent /
        local:
            …%
        ```
    """
    found = {mount: row.get("capacity") for mount, row in usage(ctx).items() if isinstance(row, dict)}
    return found.get(args) if args else found


@function
def get_fstype_from_path(ctx: Context, path: str) -> str:
    """The kind of the file system that a path is on.

    Args:
        path: the path.

    Example:
        ```console
        $ saltern call disk.get_fstype_from_path /
        ```
    """
    ran = tool(ctx, "df", "--output=fstype", "--", path)
    return ran.out.splitlines()[-1].strip()
