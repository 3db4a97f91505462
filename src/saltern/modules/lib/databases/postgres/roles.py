"""Roles, which are both users and groups: read, create, change and remove them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.lib.databases.postgres.client import Login, execute, rows
from saltern.modules.lib.databases.postgres.passwords import verifier

HIDDEN = "********"  # shown by the server in place of a password that may not be read

# The catalog with the passwords if the login may read it; the view without them has the same columns.
CHOOSE_CATALOG = (
    "SELECT CASE WHEN has_table_privilege('pg_catalog.pg_authid', 'SELECT') THEN 'pg_authid'"
    " ELSE 'pg_roles' END AS catalog \\gset"
)
SELECT = """
    SELECT r.rolname AS name, r.rolsuper AS superuser, r.rolinherit AS inherit,
        r.rolcreaterole AS createroles,
        r.rolcreatedb AS createdb, r.rolcanlogin AS login, r.rolreplication AS replication,
        r.rolconnlimit AS connlimit, r.rolvaliduntil AS valid_until, {same} AS valid_until_same,
        r.rolpassword AS password,
        ARRAY(SELECT DISTINCT g.rolname FROM pg_catalog.pg_auth_members m
            JOIN pg_catalog.pg_roles g ON g.oid = m.roleid WHERE m.member = r.oid ORDER BY 1) AS groups,
        (SELECT s.setconfig FROM pg_catalog.pg_db_role_setting s
            WHERE s.setrole = r.oid AND s.setdatabase = 0) AS variables
    FROM pg_catalog.:catalog r"""

# Salt's name of a property → SQL's keywords to set and to unset it.
PROPERTIES: Mapping[str, tuple[str, str]] = {
    "superuser": ("SUPERUSER", "NOSUPERUSER"),
    "createdb": ("CREATEDB", "NOCREATEDB"),
    "createroles": ("CREATEROLE", "NOCREATEROLE"),
    "inherit": ("INHERIT", "NOINHERIT"),
    "login": ("LOGIN", "NOLOGIN"),
    "replication": ("REPLICATION", "NOREPLICATION"),
}


class Role(Struct, frozen=True, kw_only=True):
    name: str
    superuser: bool
    inherit: bool
    createroles: bool
    createdb: bool
    login: bool
    replication: bool
    connlimit: int
    valid_until: str | None
    valid_until_same: bool | None
    password: str | None
    groups: tuple[str, ...]
    variables: tuple[str, ...] | None

    def __repr__(self) -> str:  # an exception must not show the password
        return f"Role({self.name!r})"

    @property
    def readable(self) -> bool:
        """True if the stored password could be read."""
        return self.password != HIDDEN

    def facts(self) -> dict[str, object]:
        known = {key: getattr(self, key) for key in (*PROPERTIES, "connlimit", "valid_until")}
        secret = bool(self.password) if self.readable else None
        return {"name": self.name, "exists": True, **known, "has_password": secret, "groups": [*self.groups]}


class DesiredRole(Struct, frozen=True, kw_only=True):
    """The specification of a role; None leaves a value unchanged. ``form`` None is the server's choice."""

    name: str
    properties: dict[str, bool]
    password: str | None = None
    form: str | None = None
    valid_until: str | None = None
    connlimit: int | None = None
    groups: tuple[str, ...] = ()

    def __repr__(self) -> str:  # an exception must not show the password
        return f"DesiredRole({self.name!r})"


def read(ctx: Context, who: Login, name: str | None = None, valid_until: str | None = None) -> list[Role]:
    """All roles, or the one with this name; each says whether it is valid until the given time."""
    values = {"name": name or ""} | ({"until": valid_until} if valid_until else {})
    same = "r.rolvaliduntil IS NOT DISTINCT FROM :'until'::timestamptz" if valid_until else "NULL::bool"
    sql = SELECT.format(same=same) + (" WHERE r.rolname = :'name'" if name is not None else "")
    return msgspec.convert(rows(ctx, who, sql, values, before=CHOOSE_CATALOG), list[Role])


def get(ctx: Context, who: Login, name: str, valid_until: str | None = None) -> Role | None:
    return next(iter(read(ctx, who, name, valid_until)), None)


def create(ctx: Context, who: Login, want: DesiredRole) -> None:
    _apply(ctx, who, want, "CREATE ROLE")


def alter(ctx: Context, who: Login, want: DesiredRole) -> None:
    _apply(ctx, who, want, "ALTER ROLE")


def create_missing(ctx: Context, who: Login, want: DesiredRole) -> bool:
    """Create the role; False if there is one of that name."""
    if get(ctx, who, want.name) is not None:
        return False
    create(ctx, who, want)
    return True


def alter_existing(ctx: Context, who: Login, want: DesiredRole) -> bool:
    """Change the role; False if there is none of that name."""
    if get(ctx, who, want.name) is None:
        return False
    alter(ctx, who, want)
    return True


def _apply(ctx: Context, who: Login, want: DesiredRole, verb: str) -> None:
    """Create or change the role and its groups in one transaction."""
    words = [PROPERTIES[key][0 if on else 1] for key, on in want.properties.items()]
    values, secrets = {"name": want.name}, []
    if want.password is not None:
        kept = (
            verifier(want.name, want.password, want.form or preferred_form(ctx, who)) if want.password else ""
        )
        words.append("PASSWORD :'password'" if kept else "PASSWORD NULL")
        values["password"] = kept
        secrets = [kept, want.password]
    if want.valid_until:
        words.append("VALID UNTIL :'until'")
        values["until"] = want.valid_until
    if want.connlimit is not None:
        words.append(f"CONNECTION LIMIT {int(want.connlimit)}")
    values |= {f"group{number}": group for number, group in enumerate(want.groups)}
    grants = [f'GRANT :"group{number}" TO :"name"' for number in range(len(want.groups))]
    first = [f'{verb} :"name" WITH {" ".join(words)}'] if words or verb.startswith("CREATE") else []
    execute(ctx, who, *first, *grants, values=values, secrets=secrets, together=True)


def preferred_form(ctx: Context, who: Login) -> str:
    """How this server encrypts passwords; before version 10 it reports ``on`` for md5."""
    found = rows(ctx, who, "SELECT current_setting('password_encryption') AS form")
    return str(found[0]["form"]) if found[0]["form"] == "scram-sha-256" else "md5"


def drop(ctx: Context, who: Login, name: str) -> None:
    execute(ctx, who, 'DROP ROLE :"name"', values={"name": name})


def drop_if_present(ctx: Context, who: Login, name: str) -> bool:
    """Remove a role; false if it does not exist."""
    if get(ctx, who, name) is None:
        return False
    drop(ctx, who, name)
    return True
