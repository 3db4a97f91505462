"""``mysql_database``: databases of a MariaDB or MySQL server.

The server is reached with its client program, ``mariadb`` or ``mysql``. Without any ``connection_``
argument it uses the options ``mysql.user``, ``mysql.pass``, ``mysql.host`` … of the configuration or the
pillar, and without those root logs in at the local socket.
"""

from __future__ import annotations

from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.databases.mysql import literals, schemas
from saltern.modules.lib.databases.mysql.connection import ConnectionArguments, reach
from saltern.modules.lib.databases.mysql.schemas import Schema
from saltern.modules.lib.databases.mysql.sight import Sight

# The existing database, and the server's names of the requested character set and collation.
Seen = tuple[Schema | None, tuple[str | None, str | None]]


@state
def present(
    ctx: Context,
    /,
    name: str,
    *,
    character_set: str | None = None,
    collate: str | None = None,
    **connection: Unpack[ConnectionArguments],
) -> Result:
    """Make sure that a database exists, with this character set and collation.

    Args:
        name: the name of the database.
        character_set: its default character set; that of the server, or of the collation, if not given.
        collate: its default collation.

    Example:
        ```yaml
        shop:
          mysql_database.present:
            - character_set: utf8mb4
            - collate: utf8mb4_unicode_ci
        ```
    """
    server = reach(ctx, connection)
    literals.name(name, "the name of a database")
    want = (character_set, collate)
    sight: Sight[Seen] = Sight(ctx, lambda: schemas.compare(ctx, server, name, *want), (None, want))
    exists = sight.last[0] is not None

    def act(_: Changes) -> None:
        (schemas.alter if exists else schemas.create)(ctx, server, name, *want)

    what = f"Database {name}"
    done = "updated" if exists else "created"
    return bring(
        ctx,
        lambda: _differs(name, *sight.again()),
        act,
        facts=lambda: _facts(name, sight.last[0]),
        words=Words(f"{what} is already present", f"{what} would be {done}", f"{what} has been {done}"),
        warnings=sight.warnings,
    )


def _differs(name: str, have: Schema | None, wanted: tuple[str | None, str | None]) -> Changes:
    if have is None:
        return {name: "Present"}
    pairs = {"character_set": (have.character_set, wanted[0]), "collate": (have.collate, wanted[1])}
    return {
        what: {"before": before, "now": now}
        for what, (before, now) in pairs.items()
        if now not in (None, before)
    }


def _facts(name: str, have: Schema | None) -> Changes:
    if have is None:
        return {"name": name, "exists": False}
    return {"name": have.name, "exists": True, "character_set": have.character_set, "collate": have.collate}


@state(removes=True)
def absent(
    ctx: Context,
    /,
    name: str,
    **connection: Unpack[ConnectionArguments],
) -> Result:
    """Drop a database with all its data. The server's own databases are refused.

    Args:
        name: the name of the database.

    Example:
        ```yaml
        old_shop:
          mysql_database.absent: []
        ```
    """
    server = reach(ctx, connection)
    schemas.check_own(name)
    sight: Sight[Schema | None] = Sight(ctx, lambda: schemas.get(ctx, server, name), None)
    what = f"Database {name}"
    return bring(
        ctx,
        lambda: {name: "Absent"} if sight.again() else {},
        lambda _: schemas.drop(ctx, server, name),
        facts=lambda: _facts(name, sight.last),
        words=Words(f"{what} is not present", f"{what} would be removed", f"{what} has been removed"),
        warnings=sight.warnings,
    )
