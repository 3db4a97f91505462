"""``file``: backups that states have made."""

from __future__ import annotations

import os
import re

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.file.errors import absolute, explain_errors

BACKUP = re.compile(r"_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_\d{6}")


def _backups(ctx: Context, path: str) -> list[str]:
    """The backups of a file that ``backup: minion`` made, the newest first."""
    from saltern.config.settings import cache_directory

    parent, name = os.path.split(f"{cache_directory(ctx.settings)}/file_backup{absolute(path)}")
    if not os.path.isdir(parent):
        return []
    mine = [one for one in os.listdir(parent) if one.startswith(name) and BACKUP.fullmatch(one[len(name) :])]
    return [f"{parent}/{one}" for one in sorted(mine, reverse=True)]


@function
def list_backups(ctx: Context, path: str, limit: int | None = None) -> dict[int, dict[str, object]]:
    """The backups of a file, the newest first: ``{0: {Location, Size, "Backup Time"}}``.

    Example:
        ```console
        $ saltern call file.list_backups /etc/app.conf
        ```
    """
    return {
        number: {
            "Location": place,
            "Size": os.path.getsize(place),
            "Backup Time": place[-26:].replace("_", " "),
        }
        for number, place in enumerate(_backups(ctx, path)[:limit])
    }


@function
def delete_backup(ctx: Context, path: str, backup_id: int) -> dict[str, object]:
    """Remove one backup of a file.

    Example:
        ```console
        $ saltern call file.delete_backup /etc/app.conf 0
        ```
    """
    found = _backups(ctx, path)
    if not 0 <= int(backup_id) < len(found):
        return {"result": False, "comment": f"there is no backup {backup_id} of {path}"}
    with explain_errors(path):
        os.unlink(found[int(backup_id)])
    return {"result": True, "comment": f"removed {found[int(backup_id)]}"}
