"""``postgres_extension``: extensions of a database, such as ``hstore`` or ``postgis``."""

from __future__ import annotations

from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.postgres import inside
from saltern.modules.lib.databases.postgres.client import check_name
from saltern.modules.lib.databases.postgres.inside import Extension
from saltern.modules.lib.databases.postgres.login import MaintenanceArguments, reach
from saltern.modules.lib.databases.postgres.sight import Sight, remove_seen

OBSOLETE = "from_version has no effect: PostgreSQL 13 and newer do not support it"


@state
def present(
    ctx: Context,
    name: str,
    *,
    schema: str | None = None,
    ext_version: str | None = None,
    from_version: str | None = None,
    **connection: Unpack[MaintenanceArguments],
) -> Result:
    """Make sure that a database has an extension, in this version and this schema.

    Args:
        name: the extension. Its package must be installed.
        schema: the schema of its objects; it must exist.
        ext_version: the version; if not given, a new extension gets the newest, and an existing one keeps its
            own.
        from_version: no effect on current servers.

    Example:
        ```yaml
        hstore:
          postgres_extension.present:
            - maintenance_db: postgres
        ```
    """
    who = reach(ctx, connection)
    sight = Sight(ctx, lambda: inside.extension(ctx, who, check_name(name, "name")), None)
    first = sight.last

    def other(have: Extension) -> dict[str, str]:
        wanted = {"schema": (schema, have.schema), "version": (ext_version, have.version)}
        return {key: want for key, (want, now) in wanted.items() if want and want != now}

    def differs() -> Changes:
        have = sight.again()
        if have is None:
            return {name: "Installed"}
        return {name: "Upgraded"} if other(have) else {}

    def act(_: Changes) -> None:
        if sight.last is None:
            inside.create_extension(ctx, who, name, schema=schema, version=ext_version)
        else:
            todo = other(sight.last)
            inside.alter_extension(ctx, who, name, schema=todo.get("schema"), version=todo.get("version"))

    done = "upgraded" if first else "installed"
    return bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(name, who.db, sight.last),
        words=Words(
            f"Extension {name} is already present",
            f"Extension {name} would be {done}",
            f"Extension {name} was {done}",
        ),
        warnings=sight.warnings + ((OBSOLETE,) if from_version else ()),
    )


def _facts(name: str, db: str, have: Extension | None) -> Changes:
    known: Changes = {"version": have.version, "schema": have.schema, "owner": have.owner} if have else {}
    return {"name": name, "maintenance_db": db, "exists": have is not None, **known}


@state(removes=True)
def absent(
    ctx: Context,
    name: str,
    *,
    restrict: bool | None = None,
    cascade: bool | None = None,
    **connection: Unpack[MaintenanceArguments],
) -> Result:
    """Remove an extension from a database.

    Args:
        name: the extension.
        restrict: fail if something else depends on it; the default without ``cascade``.
        cascade: also remove all objects that depend on it.

    Example:
        ```yaml
        hstore:
          postgres_extension.absent:
            - maintenance_db: postgres
        ```
    """
    who = reach(ctx, connection)
    if restrict and cascade:
        raise Refused("restrict and cascade cannot be combined")
    sight = Sight(ctx, lambda: inside.extension(ctx, who, name), None, gone=True)
    return remove_seen(
        ctx,
        name,
        sight,
        lambda: inside.drop_extension(ctx, who, name, cascade=bool(cascade)),
        what=f"Extension {name}",
        facts=lambda have: _facts(name, who.db, have),
    )
