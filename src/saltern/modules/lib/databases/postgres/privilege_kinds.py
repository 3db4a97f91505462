"""The kinds of objects that privileges can be granted on, and the catalogs that list them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

RELATION = """
    SELECT format('{word} %I.%I', n.nspname, c.relname) AS thing, c.relowner AS owner, c.relacl AS acl
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = :'schema' AND c.relkind IN ({kinds})"""
ROUTINE = """
    SELECT format('ROUTINE %s', p.oid::regprocedure) AS thing, p.proowner AS owner, p.proacl AS acl
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE {where}"""
SINGLE = """
    SELECT format('{word} %I', {key}) AS thing, {owner} AS owner, {acl} AS acl
    FROM pg_catalog.{catalog} WHERE {key} = :'object'"""


class Kind(Struct, frozen=True, kw_only=True):
    """A kind of object: the server's letter for it, its privileges, and how to find it.

    ``in_schema`` kinds have ``one``, the condition for a single object instead of all in the schema.
    """

    letter: str
    privileges: tuple[str, ...]
    find: str
    in_schema: bool = False
    one: str = ""


def _single(word: str, letter: str, privileges: tuple[str, ...], catalog: str, prefix: str) -> Kind:
    owner = "datdba" if prefix == "dat" else f"{prefix}owner"
    find = SINGLE.format(word=word, key=f"{prefix}name", owner=owner, acl=f"{prefix}acl", catalog=catalog)
    return Kind(letter=letter, privileges=privileges, find=find)


KINDS: Mapping[str, Kind] = {
    "table": Kind(
        letter="r",
        privileges=(
            "SELECT",
            "INSERT",
            "UPDATE",
            "DELETE",
            "TRUNCATE",
            "REFERENCES",
            "TRIGGER",
            "MAINTAIN",
        ),
        find=RELATION.format(word="TABLE", kinds="'r', 'p', 'v', 'm', 'f'"),
        in_schema=True,
        one=" AND c.relname = :'object'",
    ),
    "sequence": Kind(
        letter="s",
        privileges=("SELECT", "UPDATE", "USAGE"),
        find=RELATION.format(word="SEQUENCE", kinds="'S'"),
        in_schema=True,
        one=" AND c.relname = :'object'",
    ),
    "function": Kind(
        letter="f",
        privileges=("EXECUTE",),
        find=ROUTINE.format(where="n.nspname = :'schema'"),
        in_schema=True,
        one=" AND p.proname = :'object'",
    ),
    "schema": _single("SCHEMA", "n", ("USAGE", "CREATE"), "pg_namespace", "nsp"),
    "database": _single("DATABASE", "d", ("CREATE", "CONNECT", "TEMPORARY"), "pg_database", "dat"),
    "tablespace": _single("TABLESPACE", "t", ("CREATE",), "pg_tablespace", "spc"),
    "language": _single("LANGUAGE", "l", ("USAGE",), "pg_language", "lan"),
}
SIGNATURE = ROUTINE.format(where="p.oid = to_regprocedure(:'signature')")
