"""``postgres_schema``: schemas, which group the tables of a database."""

from __future__ import annotations

from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.databases.postgres import inside
from saltern.modules.lib.databases.postgres.client import check_name
from saltern.modules.lib.databases.postgres.inside import Schema
from saltern.modules.lib.databases.postgres.login import LoginArguments, reach
from saltern.modules.lib.databases.postgres.sight import Sight, remove_seen, words


@state
def present(
    ctx: Context,
    name: str,
    *,
    dbname: str,
    owner: str | None = None,
    **connection: Unpack[LoginArguments],
) -> Result:
    """Make sure that a schema exists in a database, with this owner.

    Args:
        name: the name of the schema.
        dbname: its database.
        owner: its owner; if not given, the user who creates it.

    Example:
        ```yaml
        billing:
          postgres_schema.present:
            - dbname: postgres
        ```
    """
    who = reach(ctx, connection, dbname)
    sight = Sight(ctx, lambda: inside.schema(ctx, who, check_name(name, "name")), None)

    def differs() -> Changes:
        have = sight.again()
        if have is None:
            return {name: "Present"}
        return {name: {"owner": owner}} if owner and owner != have.owner else {}

    def act(_: Changes) -> None:
        if sight.last is None:
            inside.create_schema(ctx, who, name, owner)
        else:
            inside.alter_schema(ctx, who, name, owner or "")

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(name, dbname, sight.last),
        words=words(f"Schema {name} of database {dbname}", sight.last is not None),
        warnings=sight.warnings,
    )


def _facts(name: str, dbname: str, have: Schema | None) -> Changes:
    known: Changes = {"owner": have.owner} if have else {}
    return {"name": name, "dbname": dbname, "exists": have is not None, **known}


@state(removes=True)
def absent(
    ctx: Context,
    name: str,
    *,
    dbname: str,
    **connection: Unpack[LoginArguments],
) -> Result:
    """Remove a schema from a database; it must be empty.

    Args:
        name: the name of the schema.
        dbname: its database.

    Example:
        ```yaml
        leftover:
          postgres_schema.absent:
            - dbname: postgres
        ```
    """
    who = reach(ctx, connection, dbname)
    sight = Sight(ctx, lambda: inside.schema(ctx, who, name), None, gone=True)
    return remove_seen(
        ctx,
        name,
        sight,
        lambda: inside.drop_schema(ctx, who, name),
        what=f"Schema {name} of database {dbname}",
        facts=lambda have: _facts(name, dbname, have),
    )
