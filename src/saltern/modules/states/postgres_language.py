"""``postgres_language``: languages for functions of a database."""

from __future__ import annotations

from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.databases.postgres import inside
from saltern.modules.lib.databases.postgres.client import check_name
from saltern.modules.lib.databases.postgres.inside import Language
from saltern.modules.lib.databases.postgres.login import LoginArguments, reach
from saltern.modules.lib.databases.postgres.sight import Sight, remove_seen


@state
def present(
    ctx: Context,
    name: str,
    *,
    maintenance_db: str,
    **connection: Unpack[LoginArguments],
) -> Result:
    """Make sure that a language for functions is installed in a database.

    Args:
        name: the language, such as ``plpgsql`` or ``plperl``. Its package must be installed.
        maintenance_db: the database.

    Example:
        ```yaml
        plpgsql:
          postgres_language.present:
            - maintenance_db: postgres
        ```
    """
    who = reach(ctx, connection, maintenance_db)
    sight = Sight(ctx, lambda: inside.language(ctx, who, check_name(name, "name")), None)
    return bring(
        ctx,
        lambda: {} if sight.again() else {name: "Present"},
        lambda _: inside.create_language(ctx, who, name),
        facts=lambda: _facts(name, maintenance_db, sight.last),
        words=Words(
            f"Language {name} is already installed",
            f"Language {name} would be installed",
            f"Language {name} was installed",
        ),
        warnings=sight.warnings,
    )


def _facts(name: str, db: str, have: Language | None) -> Changes:
    known: Changes = {"owner": have.owner, "trusted": have.trusted} if have else {}
    return {"name": name, "maintenance_db": db, "exists": have is not None, **known}


@state(removes=True)
def absent(
    ctx: Context,
    name: str,
    *,
    maintenance_db: str,
    **connection: Unpack[LoginArguments],
) -> Result:
    """Remove a language from a database; no function may use it.

    Args:
        name: the language.
        maintenance_db: the database.

    Example:
        ```yaml
        plpgsql:
          postgres_language.absent:
            - maintenance_db: postgres
        ```
    """
    who = reach(ctx, connection, maintenance_db)
    sight = Sight(ctx, lambda: inside.language(ctx, who, name), None, gone=True)
    return remove_seen(
        ctx,
        name,
        sight,
        lambda: inside.drop_language(ctx, who, name),
        what=f"Language {name}",
        facts=lambda have: _facts(name, maintenance_db, have),
    )
