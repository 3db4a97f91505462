"""Schemas, languages and extensions of a database."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.lib.databases.postgres.client import Login, execute, rows

SCHEMAS = """
    SELECT nspname AS name, pg_catalog.pg_get_userbyid(nspowner) AS owner, nspacl::text AS acl
    FROM pg_catalog.pg_namespace"""
LANGUAGES = """
    SELECT l.lanname AS name, pg_catalog.pg_get_userbyid(l.lanowner) AS owner, l.lanpltrusted AS trusted,
        (SELECT e.extname FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
            WHERE d.deptype = 'e' AND d.classid = 'pg_catalog.pg_language'::regclass AND d.objid = l.oid
        ) AS extension
    FROM pg_catalog.pg_language l"""
INSTALLED = """
    SELECT e.extname AS name, e.extversion AS version, n.nspname AS schema, e.extrelocatable AS relocatable,
        pg_catalog.pg_get_userbyid(e.extowner) AS owner
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace"""
AVAILABLE = "SELECT name, default_version, comment FROM pg_catalog.pg_available_extensions"


class Schema(Struct, frozen=True, kw_only=True):
    name: str
    owner: str
    acl: str | None


class Language(Struct, frozen=True, kw_only=True):
    """``extension`` is the one that installed it, if any did."""

    name: str
    owner: str
    trusted: bool
    extension: str | None


class Extension(Struct, frozen=True, kw_only=True):
    name: str
    version: str
    schema: str
    relocatable: bool
    owner: str


class Available(Struct, frozen=True, kw_only=True):
    name: str
    default_version: str
    comment: str | None


def schemas(ctx: Context, who: Login, name: str | None = None) -> list[Schema]:
    where = " WHERE nspname = :'name'" if name is not None else ""
    return msgspec.convert(rows(ctx, who, SCHEMAS + where, {"name": name or ""}), list[Schema])


def schema(ctx: Context, who: Login, name: str) -> Schema | None:
    return next(iter(schemas(ctx, who, name)), None)


def create_schema(ctx: Context, who: Login, name: str, owner: str | None = None) -> None:
    owned = ' AUTHORIZATION :"owner"' if owner else ""
    execute(ctx, who, f'CREATE SCHEMA :"name"{owned}', values={"name": name, "owner": owner or ""})


def alter_schema(ctx: Context, who: Login, name: str, owner: str) -> None:
    execute(ctx, who, 'ALTER SCHEMA :"name" OWNER TO :"owner"', values={"name": name, "owner": owner})


def drop_schema(ctx: Context, who: Login, name: str) -> None:
    execute(ctx, who, 'DROP SCHEMA :"name"', values={"name": name})


def languages(ctx: Context, who: Login, name: str | None = None) -> list[Language]:
    where = " WHERE l.lanname = :'name'" if name is not None else ""
    return msgspec.convert(rows(ctx, who, LANGUAGES + where, {"name": name or ""}), list[Language])


def language(ctx: Context, who: Login, name: str) -> Language | None:
    return next(iter(languages(ctx, who, name)), None)


def create_language(ctx: Context, who: Login, name: str) -> None:
    execute(ctx, who, 'CREATE LANGUAGE :"name"', values={"name": name})


def drop_language(ctx: Context, who: Login, name: str) -> None:
    """Remove a language; one that an extension installed can only be removed with the extension."""
    found = language(ctx, who, name)
    if found is not None and found.extension:
        execute(ctx, who, 'DROP EXTENSION :"name"', values={"name": found.extension})
    else:
        execute(ctx, who, 'DROP LANGUAGE :"name"', values={"name": name})


def installed_extensions(ctx: Context, who: Login, name: str | None = None) -> list[Extension]:
    where = " WHERE e.extname = :'name'" if name is not None else ""
    return msgspec.convert(rows(ctx, who, INSTALLED + where, {"name": name or ""}), list[Extension])


def available(ctx: Context, who: Login, name: str | None = None) -> list[Available]:
    where = " WHERE name = :'name'" if name is not None else ""
    return msgspec.convert(rows(ctx, who, AVAILABLE + where, {"name": name or ""}), list[Available])


def extension(ctx: Context, who: Login, name: str) -> Extension | None:
    return next(iter(installed_extensions(ctx, who, name)), None)


def create_extension(
    ctx: Context, who: Login, name: str, *, schema: str | None = None, version: str | None = None
) -> None:
    values = {"name": name, "schema": schema or "", "version": version or ""}
    parts = ((schema, ' SCHEMA :"schema"'), (version, " VERSION :'version'"))
    words = "".join(part for asked, part in parts if asked)
    execute(ctx, who, f'CREATE EXTENSION :"name"{words}', values=values)


def alter_extension(
    ctx: Context, who: Login, name: str, *, schema: str | None = None, version: str | None = None
) -> None:
    values = {"name": name, "schema": schema or "", "version": version or ""}
    steps = ((schema, 'SET SCHEMA :"schema"'), (version, "UPDATE TO :'version'"))
    todo = [f'ALTER EXTENSION :"name" {step}' for asked, step in steps if asked]
    execute(ctx, who, *todo, values=values, together=True)


def drop_extension(ctx: Context, who: Login, name: str, *, cascade: bool = False) -> None:
    tail = " CASCADE" if cascade else ""
    execute(ctx, who, f'DROP EXTENSION :"name"{tail}', values={"name": name})
