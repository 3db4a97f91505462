"""The owners of the objects of a database: schemas, tables, views, sequences, functions and types."""

from __future__ import annotations

from msgspec.structs import replace

from saltern.modules.api.context import Context
from saltern.modules.lib.databases.postgres.client import Login, execute, rows

# Objects of the system, of an extension or of a table are not changed separately;
# a schema of the database's owner has the right owner already.
FOREIGN = """
    WITH wanted AS (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = :'owner'),
    bound AS (SELECT classid, objid FROM pg_catalog.pg_depend WHERE deptype = 'e'
        OR (deptype IN ('a', 'i') AND classid = 'pg_catalog.pg_class'::regclass
            AND objid IN (SELECT oid FROM pg_catalog.pg_class WHERE relkind = 'S'))),
    spaces AS (SELECT oid, nspname, nspowner FROM pg_catalog.pg_namespace
        WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'),
    things AS (
        SELECT 'pg_catalog.pg_namespace'::regclass AS class, oid, nspowner AS owner,
            format('SCHEMA %I', nspname) AS thing FROM spaces
            WHERE pg_catalog.pg_get_userbyid(nspowner) <> 'pg_database_owner'
        UNION ALL
        SELECT 'pg_catalog.pg_class'::regclass, c.oid, c.relowner, format('%s %I.%I', CASE c.relkind
            WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE'
            WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, s.nspname, c.relname)
            FROM pg_catalog.pg_class c JOIN spaces s ON s.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
        UNION ALL
        SELECT 'pg_catalog.pg_proc'::regclass, p.oid, p.proowner, format('ROUTINE %s', p.oid::regprocedure)
            FROM pg_catalog.pg_proc p JOIN spaces s ON s.oid = p.pronamespace
        UNION ALL
        SELECT 'pg_catalog.pg_type'::regclass, t.oid, t.typowner, format('TYPE %I.%I', s.nspname, t.typname)
            FROM pg_catalog.pg_type t JOIN spaces s ON s.oid = t.typnamespace
            LEFT JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
            WHERE t.typtype IN ('e', 'd', 'r', 'c') AND (c.oid IS NULL OR c.relkind = 'c')
    )
    SELECT {what} FROM things
    WHERE owner NOT IN (SELECT oid FROM wanted)
        AND NOT EXISTS (SELECT FROM bound b WHERE b.classid = things.class AND b.objid = things.oid)
    ORDER BY thing"""


def of_others(ctx: Context, who: Login, db: str, owner: str) -> list[str]:
    """The objects in the database that have another owner: ``TABLE public.t`` …"""
    found = rows(ctx, replace(who, db=db), FOREIGN.format(what="thing"), {"owner": owner})
    return [str(row["thing"]) for row in found]


def hand_over(ctx: Context, who: Login, db: str, owner: str) -> None:
    """Set the owner of everything in the database."""
    alter = FOREIGN.format(what="format('ALTER %s OWNER TO %I', thing, :'owner')")
    execute(ctx, replace(who, db=db), f"{alter} \\gexec", values={"owner": owner}, together=True)
