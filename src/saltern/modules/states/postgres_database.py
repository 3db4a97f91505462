"""``postgres_database``: databases of a PostgreSQL server."""

from __future__ import annotations

from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.postgres import stores
from saltern.modules.lib.databases.postgres.client import Login, check_name
from saltern.modules.lib.databases.postgres.login import MaintenanceArguments, reach
from saltern.modules.lib.databases.postgres.owners import hand_over, of_others
from saltern.modules.lib.databases.postgres.sight import Sight, facts_of, remove_seen, words
from saltern.modules.lib.databases.postgres.stores import Database

FIXED = ("encoding", "lc_collate", "lc_ctype")  # no statement changes these later


@state
def present(
    ctx: Context,
    name: str,
    *,
    tablespace: str | None = None,
    encoding: str | None = None,
    lc_collate: str | None = None,
    lc_ctype: str | None = None,
    owner: str | None = None,
    owner_recurse: bool = False,
    template: str | None = None,
    **connection: Unpack[MaintenanceArguments],
) -> Result:
    """Make sure that a database exists as described; attributes that are not given stay unchanged.

    Args:
        name: the name of the database.
        tablespace: its tablespace.
        encoding: the encoding of its text, such as ``UTF8``; cannot be changed later.
        lc_collate: the locale for sorting; cannot be changed later.
        lc_ctype: the locale for character classes; cannot be changed later.
        owner: its owner.
        owner_recurse: give everything in it (schemas, tables, functions, types …) to ``owner``, too.
        template: the database to copy for a new one.

    Example:
        ```yaml
        app:
          postgres_user.present: []
          postgres_database.present:
            - owner: app
            - encoding: UTF8
            - template: template0
            - require:
              - postgres_user: app
        ```
    """
    who = reach(ctx, connection)
    given = {
        "owner": owner,
        "template": template,
        "encoding": encoding,
        "lc_collate": lc_collate,
        "lc_ctype": lc_ctype,
        "tablespace": tablespace,
    }
    parts = {key: value for key, value in given.items() if value}
    sight = Sight(ctx, lambda: stores.database(ctx, who, check_name(name, "name")), None)
    if sight.last is not None:
        _unchangeable(ctx, who, sight.last, parts)

    def differs() -> Changes:
        have = sight.again()
        if have is None:
            return {name: "Present"}
        moved = any(
            getattr(have, key) != parts.get(key, getattr(have, key)) for key in ("owner", "tablespace")
        )
        if moved or (owner and owner_recurse and of_others(ctx, who, name, owner)):
            return {name: "Parameters changed"}
        return {}

    def act(_: Changes) -> None:
        have = sight.last
        if have is None:
            stores.create_database(ctx, who, name, parts)
            if owner and owner_recurse:
                hand_over(ctx, who, name, owner)
            return
        stores.alter_database(
            ctx,
            who,
            name,
            owner=owner,
            tablespace=tablespace if tablespace != have.tablespace else None,
            owner_recurse=owner_recurse,
        )

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: facts_of(name, sight.last),
        words=words(f"Database {name}", sight.last is not None),
        warnings=sight.warnings,
    )


def _unchangeable(ctx: Context, who: Login, have: Database, parts: dict[str, str]) -> None:
    """Raises ``Refused`` if an existing database would have to be created again."""
    for key in FIXED:
        now = getattr(have, key)
        if key in parts and not _same(ctx, who, key, parts[key], now):
            raise Refused(
                f"database {have.name!r} has the {key} {now}, not {parts[key]}, which cannot be changed; "
                "dump it, remove it and load the dump into a new one"
            )


def _same(ctx: Context, who: Login, key: str, wanted: str, now: str) -> bool:
    """True if two values mean the same: ``utf-8`` is ``UTF8``, and the server knows more such aliases."""
    if _plain(wanted) == _plain(now):
        return True
    return key == "encoding" and stores.encoding_name(ctx, who, wanted) == now


def _plain(text: str) -> str:
    return text.lower().replace("-", "").replace("_", "")


@state(removes=True)
def absent(
    ctx: Context,
    name: str,
    **connection: Unpack[MaintenanceArguments],
) -> Result:
    """Remove a database with all its data; there must be no connections to it.

    Args:
        name: the name of the database.

    Example:
        ```yaml
        old:
          postgres_database.absent: []
        ```
    """
    who = reach(ctx, connection)
    sight = Sight(ctx, lambda: stores.database(ctx, who, name), None)
    return remove_seen(
        ctx,
        name,
        sight,
        lambda: stores.drop_database(ctx, who, name),
        what=f"Database {name}",
        facts=lambda have: facts_of(name, have),
    )
