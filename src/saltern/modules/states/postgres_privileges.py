"""``postgres_privileges``: privileges of users and groups on tables, schemas, databases …"""

from __future__ import annotations

from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.databases.postgres import privileges as rights
from saltern.modules.lib.databases.postgres.holdings import Holding, look
from saltern.modules.lib.databases.postgres.login import MaintenanceArguments, reach
from saltern.modules.lib.databases.postgres.privileges import Wanted, read_wanted
from saltern.modules.lib.databases.postgres.sight import Sight


@state
def present(
    ctx: Context,
    name: str,
    *,
    object_name: str,
    object_type: str,
    privileges: str | list[str] | None = None,
    grant_option: bool = False,
    prepend: str = "public",
    **connection: Unpack[MaintenanceArguments],
) -> Result:
    """Make sure that a user or group has privileges on an object; its other privileges stay.

    Args:
        name: the user or group; ``public`` for every user.
        object_name: the object. ``ALL`` for all tables, sequences or functions of a schema; a function may
            be given with its arguments, as in ``area(int, int)``.
        object_type: ``table`` (also for views), ``sequence``, ``function``, ``schema``, ``database``,
            ``tablespace``, ``language``, or ``group`` for membership.
        privileges: the privileges, such as ``SELECT``, or ``ALL``; not for a group.
        grant_option: whether it may grant them to others.
        prepend: the schema of the object.

    Example:
        ```yaml
        reporter:
          postgres_user.present: []
          postgres_privileges.present:
            - object_name: postgres
            - object_type: database
            - privileges: [CONNECT, TEMPORARY]
            - require:
              - postgres_user: reporter
        ```
    """
    who = reach(ctx, connection)
    want = read_wanted(name, object_name, object_type, privileges, grant_option=grant_option, prepend=prepend)
    sight = Sight(ctx, lambda: look(ctx, who, want), Holding(complete=False))
    return bring(
        ctx,
        lambda: {} if sight.again().complete else {name: "Present"},
        lambda _: rights.grant(ctx, who, want),
        facts=lambda: _facts(want, sight.last),
        words=Words(
            f"{name} has {want.says()} already",
            f"{want.says()} would be granted to {name}",
            f"{want.says()} was granted to {name}",
        ),
        warnings=sight.warnings,
    )


def _facts(want: Wanted, have: Holding) -> Changes:
    known: Changes = {
        "object_name": want.object,
        "object_type": want.type,
        "privileges": have.privileges,
    }
    return (
        {"name": want.role, **known, "member": have.member}
        if want.type == "group"
        else {
            "name": want.role,
            **known,
        }
    )


@state(removes=True)
def absent(
    ctx: Context,
    name: str,
    *,
    object_name: str,
    object_type: str,
    privileges: str | list[str] | None = None,
    prepend: str = "public",
    **connection: Unpack[MaintenanceArguments],
) -> Result:
    """Make sure that a user or group has none of these privileges on an object.

    Args:
        name: the user or group; ``public`` for every user.
        object_name: the object. ``ALL`` for all tables, sequences or functions of a schema; a function may
            be given with its arguments, as in ``area(int, int)``.
        object_type: ``table`` (also for views), ``sequence``, ``function``, ``schema``, ``database``,
            ``tablespace``, ``language``, or ``group`` for membership.
        privileges: the privileges, such as ``SELECT``, or ``ALL``; not for a group.
        prepend: the schema of the object.

    Example:
        ```yaml
        public:
          postgres_privileges.absent:
            - object_name: postgres
            - object_type: database
            - privileges: [TEMPORARY]
        ```
    """
    who = reach(ctx, connection)
    want = read_wanted(name, object_name, object_type, privileges, prepend=prepend)
    sight = Sight(ctx, lambda: look(ctx, who, want), Holding())
    return bring(
        ctx,
        lambda: {name: "Absent"} if sight.again().some else {},
        lambda _: rights.revoke(ctx, who, want),
        facts=lambda: _facts(want, sight.last),
        words=Words(
            f"{name} has no {want.says()}",
            f"{want.says()} would be revoked from {name}",
            f"{want.says()} was revoked from {name}",
        ),
        warnings=sight.warnings,
    )
