"""``file.retention_schedule``: remove old backups."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, tzinfo

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import existing_directory, facts
from saltern.modules.lib.files.retention import Copy, kept_names, wanted_counts
from saltern.system import files


@state(removes=True)
def retention_schedule(
    ctx: Context,
    name: str,
    *,
    retain: dict[str, object],
    strptime_format: str | None = None,
    timezone: str | None = None,
) -> Result:
    """Remove old backups from a directory, except those that one of the rules keeps.

    Every entry of the directory counts as a backup, also directories with their contents, unless
    ``strptime_format`` gives the form of the names of backups.

    Args:
        name: the absolute path of the directory.
        retain: how many to keep by each rule, or ``all``: ``most_recent`` (the newest ones),
            ``first_of_hour``, ``first_of_day``, ``first_of_week``, ``first_of_month``, ``first_of_year``
            (the first backup of each of that many newest hours, days … that have any; one week more).
        strptime_format: the form of the names with their time, such as ``db_%Y%m%dT%H%M%S.sql``; other
            entries stay. If not given, the time is that of the last change.
        timezone: the time zone of days, such as ``Europe/Berlin``, if the time is that of the last change;
            that of this machine if not given.

    Example:
        ```yaml
        /var/backups/db:
          file.retention_schedule:
            - retain:
                most_recent: 5
                first_of_month: 12
                first_of_year: all
            - strptime_format: db_%Y%m%dT%H%M%S.sql
        ```
    """
    ctx.facts = {"path": name}
    path, found = existing_directory(name)
    if not retain:
        raise Refused("retain names no rule: every backup would be removed")
    counts = wanted_counts(retain)
    clock = _by_name(strptime_format) if strptime_format else _by_change(path, _zone(timezone))
    names = os.listdir(path)
    copies = [Copy(made, one) for one in names if (made := clock(one)) is not None]
    stay = kept_names(copies, counts)
    gone = sorted({one.name for one in copies} - stay, reverse=True)
    if not gone:
        return result_of(ctx, {}, f"No backups in {path} need to be removed", facts(ctx, path, found))
    if not ctx.test:
        for one in gone:
            files.remove(f"{path}/{one}")
    ignored = sorted(set(names) - stay - set(gone), reverse=True)
    changes: dict[str, object] = {"retained": sorted(stay, reverse=True), "deleted": gone, "ignored": ignored}
    words = Words(
        would=f"{len(gone)} backups would have been removed from {path}",
        done=f"{len(gone)} backups were removed from {path}",
    )
    return result_of(ctx, changes, words, facts(ctx, path, found))


Clock = Callable[[str], datetime | None]


def _by_name(form: str) -> Clock:
    def date_of(name: str) -> datetime | None:
        try:
            return datetime.strptime(name, form)
        except ValueError:
            return None  # not a backup

    return date_of


def _by_change(path: str, zone: tzinfo | None) -> Clock:
    def date_of(name: str) -> datetime | None:
        found = files.look(f"{path}/{name}")
        return datetime.fromtimestamp(found.st_mtime, zone) if found else None

    return date_of


def _zone(name: str | None) -> tzinfo | None:
    if name in (None, "", "None"):
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(str(name))
    except (KeyError, ValueError, OSError):
        raise Refused(f"no time zone is called {name!r}") from None
