"""Privileges on tables, schemas, databases …: read them from the server's lists, grant and revoke them."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused, check_known
from saltern.modules.lib.databases.postgres import inside
from saltern.modules.lib.databases.postgres.client import Login, NotThere, check_name, execute, rows
from saltern.modules.lib.databases.postgres.privilege_kinds import KINDS, SIGNATURE

EVERY = "ALL"
GROUP = "group"
SHORT = {"TEMP": "TEMPORARY", "ALL PRIVILEGES": EVERY}

LISTS = """
    SELECT o.thing, pg_catalog.pg_get_userbyid(o.owner) AS owner,
        ARRAY(SELECT a.privilege_type FROM aclexplode(acldefault('{letter}', o.owner)) a
            WHERE a.grantee = o.owner) AS every,
        (SELECT coalesce(json_agg(json_build_array(CASE a.grantee WHEN 0 THEN 'public'
                ELSE pg_catalog.pg_get_userbyid(a.grantee) END, a.privilege_type, a.is_grantable)), '[]')
            FROM aclexplode(coalesce(o.acl, acldefault('{letter}', o.owner))) a) AS grants
    FROM ({find}) AS o ORDER BY o.thing"""
MEMBERS = """
    SELECT pg_catalog.pg_get_userbyid(m.member) AS role, bool_or(m.admin_option) AS admin
    FROM pg_catalog.pg_auth_members m JOIN pg_catalog.pg_roles g ON g.oid = m.roleid
    WHERE g.rolname = :'object' GROUP BY m.member ORDER BY 1"""


class NoObject(NotThere):
    """The object of the privileges does not exist."""


class Grants(Struct, frozen=True, kw_only=True):
    """One object: its owner, its possible privileges, and those of each role, with the right to grant
    them.
    """

    thing: str
    owner: str
    every: tuple[str, ...]
    grants: tuple[tuple[str, str, bool], ...]

    def of(self, role: str) -> dict[str, bool]:
        """The role's privileges, and whether it may grant them to others."""
        held: dict[str, bool] = {}
        for grantee, privilege, grantable in self.grants:
            if grantee == role:
                held[privilege] = held.get(privilege, False) or grantable
        return held


class Wanted(Struct, frozen=True, kw_only=True):
    """Privileges of a role on an object, or on all objects of a schema if ``object`` is ``ALL``."""

    role: str
    object: str
    type: str
    privileges: tuple[str, ...] = ()
    grant_option: bool = False
    schema: str = "public"

    @property
    def whole_schema(self) -> bool:
        return self.type in KINDS and KINDS[self.type].in_schema and self.object.upper() == EVERY

    def says(self) -> str:
        """``SELECT on table t``, for a comment."""
        if self.type == GROUP:
            return f"membership in group {self.object}"
        where = (
            f"all {self.type}s of schema {self.schema}" if self.whole_schema else f"{self.type} {self.object}"
        )
        return f"{', '.join(self.privileges)} on {where}"


def read_wanted(
    role: str,
    object_name: str,
    object_type: str,
    privileges: str | list[str] | None = None,
    *,
    grant_option: bool = False,
    prepend: str = "public",
) -> Wanted:
    """The wanted privileges. Raises ``Refused`` for a kind or a privilege that PostgreSQL does not have."""
    kind = object_type.lower()
    check_known(kind, (*KINDS, GROUP), "object_type")
    asked = ",".join(privileges) if isinstance(privileges, list | tuple) else privileges or ""
    words = tuple(SHORT.get(one, one) for part in asked.split(",") if (one := part.strip().upper()))
    if kind == GROUP and words:
        raise Refused("privileges cannot be set for object_type group: a role is a member or is not")
    if kind != GROUP and not words:
        raise Refused(f"privileges is missing; for a {kind} it is a list of ALL, {_offer(kind)}")
    for word in words:
        if word not in (EVERY, *KINDS[kind].privileges):
            raise Refused(
                f"no privilege on a {kind} is called {word!r}; it must be one of ALL, {_offer(kind)}"
            )
    return Wanted(
        role=check_name(role, "name"),
        object=object_name if kind == "function" else check_name(object_name, "object_name"),
        type=kind,
        privileges=(EVERY,) if EVERY in words else words,
        grant_option=grant_option,
        schema=check_name(prepend, "prepend"),
    )


def _offer(kind: str) -> str:
    return ", ".join(KINDS[kind].privileges)


def lists(ctx: Context, who: Login, want: Wanted) -> list[Grants]:
    """The grants on each matching object. Raises ``Refused`` if there is none."""
    kind = KINDS[want.type]
    sql = LISTS.format(letter=kind.letter, find=_find(want))
    found = msgspec.convert(rows(ctx, who, sql, _values(want)), list[Grants])
    if not found and not (want.whole_schema and inside.schema(ctx, who, want.schema)):
        where = f" in schema {want.schema!r}" if kind.in_schema else ""
        what = "" if want.whole_schema else f"no {want.type} {want.object!r}"
        raise NoObject(f"there is {what or 'no such schema'}{where} of database {who.db!r}")
    return found


def _find(want: Wanted) -> str:
    kind = KINDS[want.type]
    if want.type == "function" and "(" in want.object:
        return SIGNATURE
    return kind.find if want.whole_schema or not kind.in_schema else kind.find + kind.one


def _values(want: Wanted) -> dict[str, str]:
    quoted = want.schema.replace('"', '""')
    bare = "." not in want.object.partition("(")[0]
    signature = f'"{quoted}".{want.object}' if bare else want.object
    return {"object": want.object, "schema": want.schema, "signature": signature, "role": want.role}


def members(ctx: Context, who: Login, group: str) -> dict[str, bool]:
    """The members of a group, and whether they may add others."""
    return {str(row["role"]): bool(row["admin"]) for row in rows(ctx, who, MEMBERS, {"object": group})}


def grant(ctx: Context, who: Login, want: Wanted) -> None:
    if want.type == GROUP:
        tail = " WITH ADMIN OPTION" if want.grant_option else ""
        execute(ctx, who, f'GRANT :"object" TO :"role"{tail}', values=_values(want))
        return
    tail = " WITH GRANT OPTION" if want.grant_option else ""
    _on_each(ctx, who, want, f"GRANT {', '.join(want.privileges)} ON %s TO %I{tail}")


def revoke(ctx: Context, who: Login, want: Wanted) -> None:
    if want.type == GROUP:
        execute(ctx, who, 'REVOKE :"object" FROM :"role"', values=_values(want))
        return
    _on_each(ctx, who, want, f"REVOKE {', '.join(want.privileges)} ON %s FROM %I")


def _on_each(ctx: Context, who: Login, want: Wanted, form: str) -> None:
    """Run a statement on each object; the server creates the statements, since it quotes its own names."""
    made = f"SELECT format('{form}', o.thing, :'role') FROM ({_find(want)}) AS o \\gexec"
    execute(ctx, who, made, values=_values(want), together=True)
