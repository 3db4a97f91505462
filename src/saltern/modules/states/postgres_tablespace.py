"""``postgres_tablespace``: directories for tables outside the data directory."""

from __future__ import annotations

import os
from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.postgres import stores
from saltern.modules.lib.databases.postgres.client import check_name
from saltern.modules.lib.databases.postgres.login import MaintenanceArguments, reach
from saltern.modules.lib.databases.postgres.sight import Sight, facts_of, remove_seen, words
from saltern.modules.lib.databases.postgres.stores import Tablespace


@state
def present(
    ctx: Context,
    name: str,
    *,
    directory: str,
    options: dict[str, object] | None = None,
    owner: str | None = None,
    **connection: Unpack[MaintenanceArguments],
) -> Result:
    """Make sure that a tablespace exists, with this owner and these options.

    Args:
        name: the name of the tablespace.
        directory: its location: an empty directory that belongs to the user the server runs as.
        options: ``seq_page_cost``, ``random_page_cost`` and others; options that are not given stay.
        owner: its owner.

    Example:
        ```yaml
        /var/lib/postgresql/fast:
          file.directory:
            - user: postgres
            - group: postgres
            - mode: '0700'

        fast:
          postgres_tablespace.present:
            - directory: /var/lib/postgresql/fast
            - options:
                random_page_cost: 1.1
            - require:
              - file: /var/lib/postgresql/fast
        ```
    """
    who = reach(ctx, connection)
    if not os.path.isabs(directory):
        raise Refused(f"directory must be an absolute path, such as /srv/postgres, not {directory!r}")
    settings = {check_name(key, "an option"): str(value) for key, value in (options or {}).items()}
    sight = Sight(ctx, lambda: stores.tablespace(ctx, who, check_name(name, "name")), None)
    if sight.last is not None and sight.last.location != os.path.normpath(directory):
        raise Refused(
            f"tablespace {name!r} is in {sight.last.location}, not in {directory}; it cannot be moved, "
            "only removed and created again"
        )

    def differs() -> Changes:
        have = sight.again()
        if have is None:
            return {name: "Present"}
        update: Changes = {"owner": owner} if owner and owner != have.owner else {}
        if other := {key: value for key, value in settings.items() if not _set(have, key, value)}:
            update["options"] = other
        return {name: update} if update else {}

    def act(_: Changes) -> None:
        have = sight.last
        if have is None:
            place = os.path.normpath(directory)
            stores.create_tablespace(ctx, who, name, place, owner=owner, options=settings)
        else:
            new_owner = owner if owner != have.owner else None
            stores.alter_tablespace(ctx, who, name, owner=new_owner, options=settings)

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: facts_of(name, sight.last),
        words=words(f"Tablespace {name}", sight.last is not None),
        warnings=sight.warnings,
    )


def _set(have: Tablespace, key: str, value: str) -> bool:
    now = have.settings.get(key)
    try:
        return now is not None and float(now) == float(value)
    except ValueError:
        return now == value


@state(removes=True)
def absent(
    ctx: Context,
    name: str,
    **connection: Unpack[MaintenanceArguments],
) -> Result:
    """Remove a tablespace; it must be empty.

    Args:
        name: the name of the tablespace.

    Example:
        ```yaml
        slow:
          postgres_tablespace.absent: []
        ```
    """
    who = reach(ctx, connection)
    sight = Sight(ctx, lambda: stores.tablespace(ctx, who, name), None)
    return remove_seen(
        ctx,
        name,
        sight,
        lambda: stores.drop_tablespace(ctx, who, name),
        what=f"Tablespace {name}",
        facts=lambda have: facts_of(name, have),
    )
