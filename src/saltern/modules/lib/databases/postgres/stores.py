"""Databases and tablespaces: read, create, change and remove them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.lib.databases.postgres.client import Login, execute, rows
from saltern.modules.lib.databases.postgres.owners import hand_over

DATABASES = """
    SELECT d.datname AS name, pg_catalog.pg_get_userbyid(d.datdba) AS owner,
        pg_catalog.pg_encoding_to_char(d.encoding) AS encoding, d.datcollate AS lc_collate,
        d.datctype AS lc_ctype, t.spcname AS tablespace, d.datacl::text AS acl
    FROM pg_catalog.pg_database d JOIN pg_catalog.pg_tablespace t ON t.oid = d.dattablespace"""
TABLESPACES = """
    SELECT spcname AS name, pg_catalog.pg_get_userbyid(spcowner) AS owner, spcacl::text AS acl,
        pg_catalog.pg_tablespace_location(oid) AS location, spcoptions AS options
    FROM pg_catalog.pg_tablespace"""

# The options of CREATE DATABASE for the arguments, each with a name or a text.
DATABASE_PARTS: Mapping[str, str] = {
    "owner": 'OWNER :"owner"',
    "template": 'TEMPLATE :"template"',
    "encoding": "ENCODING :'encoding'",
    "lc_collate": "LC_COLLATE :'lc_collate'",
    "lc_ctype": "LC_CTYPE :'lc_ctype'",
    "tablespace": 'TABLESPACE :"tablespace"',
}


class Database(Struct, frozen=True, kw_only=True):
    name: str
    owner: str
    encoding: str
    lc_collate: str
    lc_ctype: str
    tablespace: str
    acl: str | None

    def facts(self) -> dict[str, object]:
        known = ("owner", "encoding", "lc_collate", "lc_ctype", "tablespace")
        return {"name": self.name, "exists": True, **{key: getattr(self, key) for key in known}}


class Tablespace(Struct, frozen=True, kw_only=True):
    name: str
    owner: str
    acl: str | None
    location: str
    options: tuple[str, ...] | None

    @property
    def settings(self) -> dict[str, str]:
        """The options that are set, such as ``seq_page_cost``."""
        return dict(one.split("=", 1) for one in self.options or ())

    def facts(self) -> dict[str, object]:
        known: dict[str, object] = {"directory": self.location, "owner": self.owner}
        return {"name": self.name, "exists": True, **known, "options": self.settings}


def databases(ctx: Context, who: Login, name: str | None = None) -> list[Database]:
    """All databases, or the one with this name."""
    where = " WHERE d.datname = :'name'" if name is not None else ""
    return msgspec.convert(rows(ctx, who, DATABASES + where, {"name": name or ""}), list[Database])


def database(ctx: Context, who: Login, name: str) -> Database | None:
    return next(iter(databases(ctx, who, name)), None)


def create_database(ctx: Context, who: Login, name: str, parts: Mapping[str, str]) -> None:
    """``parts`` are by the names of ``DATABASE_PARTS``."""
    words = " ".join(DATABASE_PARTS[key] for key in parts)
    execute(ctx, who, f'CREATE DATABASE :"name" {words}', values={"name": name, **parts})


def alter_database(
    ctx: Context,
    who: Login,
    name: str,
    *,
    owner: str | None = None,
    tablespace: str | None = None,
    owner_recurse: bool = False,
) -> None:
    """Change the owner and tablespace of a database; ``owner_recurse`` also changes the owner of its
    objects.
    """
    values = {"name": name, "owner": owner or "", "tablespace": tablespace or ""}
    if owner:
        execute(ctx, who, 'ALTER DATABASE :"name" OWNER TO :"owner"', values=values)
        if owner_recurse:
            hand_over(ctx, who, name, owner)
    if tablespace:
        execute(ctx, who, 'ALTER DATABASE :"name" SET TABLESPACE :"tablespace"', values=values)


def drop_database(ctx: Context, who: Login, name: str) -> None:
    execute(ctx, who, 'DROP DATABASE :"name"', values={"name": name})


def tablespaces(ctx: Context, who: Login, name: str | None = None) -> list[Tablespace]:
    """All tablespaces, or the one with this name."""
    where = " WHERE spcname = :'name'" if name is not None else ""
    return msgspec.convert(rows(ctx, who, TABLESPACES + where, {"name": name or ""}), list[Tablespace])


def tablespace(ctx: Context, who: Login, name: str) -> Tablespace | None:
    return next(iter(tablespaces(ctx, who, name)), None)


def create_tablespace(
    ctx: Context,
    who: Login,
    name: str,
    directory: str,
    *,
    owner: str | None = None,
    options: Mapping[str, str] | None = None,
) -> None:
    words, values = _settings(options or {})
    values |= {"name": name, "directory": directory, "owner": owner or ""}
    owned = ' OWNER :"owner"' if owner else ""
    tail = f" WITH ({words})" if words else ""
    execute(ctx, who, f"CREATE TABLESPACE :\"name\"{owned} LOCATION :'directory'{tail}", values=values)


def alter_tablespace(
    ctx: Context,
    who: Login,
    name: str,
    *,
    owner: str | None = None,
    options: Mapping[str, str] | None = None,
    reset: str | None = None,
    new_name: str | None = None,
) -> None:
    words, values = _settings(options or {})
    values |= {"name": name, "owner": owner or "", "reset": reset or "", "new_name": new_name or ""}
    steps = (
        (words, f"SET ({words})"),
        (reset, 'RESET (:"reset")'),
        (owner, 'OWNER TO :"owner"'),
        (new_name, 'RENAME TO :"new_name"'),  # last, since the others use the old name
    )
    todo = [f'ALTER TABLESPACE :"name" {step}' for asked, step in steps if asked]
    execute(ctx, who, *todo, values=values, together=True)


def _settings(options: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    values: dict[str, str] = {}
    words: list[str] = []
    for number, (key, value) in enumerate(options.items()):
        values |= {f"key{number}": key, f"value{number}": value}
        words.append(f":\"key{number}\" = :'value{number}'")
    return ", ".join(words), values


def drop_tablespace(ctx: Context, who: Login, name: str) -> None:
    execute(ctx, who, 'DROP TABLESPACE :"name"', values={"name": name})


def encoding_name(ctx: Context, who: Login, text: str) -> str:
    """The server's name of an encoding; empty if it is unknown."""
    sql = "SELECT pg_encoding_to_char(pg_char_to_encoding(:'text')) AS name"
    return str(rows(ctx, who, sql, {"text": text})[0]["name"] or "")
