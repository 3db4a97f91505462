"""Databases, with their character set and collation: list, create, change and drop them."""

from __future__ import annotations

import re

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.mysql import client, literals
from saltern.modules.lib.databases.mysql.answers import Row, Table
from saltern.modules.lib.databases.mysql.connection import Connection

SYSTEM = frozenset({"mysql", "information_schema", "performance_schema", "sys"})
WORD = re.compile(r"[A-Za-z0-9_]+")
EVERY = (
    "SELECT SCHEMA_NAME AS name, DEFAULT_CHARACTER_SET_NAME AS charset, "
    "DEFAULT_COLLATION_NAME AS collation, @@lower_case_table_names AS folded FROM information_schema.SCHEMATA"
)


class Schema(Struct, frozen=True):
    name: str
    character_set: str
    collate: str


def every(ctx: Context, server: Connection) -> list[Schema]:
    """All databases that the login may see."""
    return [_schema(row) for row in client.rows(ctx, server, EVERY)]


def get(ctx: Context, server: Connection, name: str) -> Schema | None:
    return _named_so(client.ask(ctx, server, EVERY)[0], name)


def compare(
    ctx: Context, server: Connection, name: str, character_set: str | None, collate: str | None
) -> tuple[Schema | None, tuple[str | None, str | None]]:
    """The database, and the server's names of the character set and collation: ``utf8`` may be ``utf8mb3``.

    Raises ``Refused`` for unknown ones, or if they do not match.
    """
    if not character_set and not collate:
        return get(ctx, server, name), (None, None)
    known, real = client.ask(ctx, server, EVERY, _real_names(character_set, collate))
    names = real.mappings()[0]
    return _named_so(known, name), (
        names["charset"] if character_set else None,
        names["collation"] if collate else None,
    )


def _schema(row: Row) -> Schema:
    return Schema(str(row["name"]), str(row["charset"]), str(row["collation"]))


def _named_so(known: Table, name: str) -> Schema | None:
    """The database with this name; some servers ignore case."""
    for row in known.mappings():
        fold = str.lower if row["folded"] != "0" else str
        if fold(str(row["name"])) == fold(name):
            return _schema(row)
    return None


def _real_names(character_set: str | None, collate: str | None) -> str:
    charset = _word(character_set or (collate or "").partition("_")[0], "character_set")
    converted = f"CONVERT('' USING {charset})"
    if collate:
        converted += f" COLLATE {_word(collate, 'collate')}"
    return f"SELECT CHARSET({converted}) AS charset, COLLATION({converted}) AS collation"


def _word(value: str, what: str) -> str:
    if not WORD.fullmatch(value):
        raise Refused(f"{what} cannot be {value!r}; use a name such as utf8mb4 or utf8mb4_general_ci")
    return value


def create(
    ctx: Context, server: Connection, name: str, character_set: str | None, collate: str | None
) -> None:
    client.ask(ctx, server, f"CREATE DATABASE {_database_name(name)}{_properties(character_set, collate)}")


def alter(
    ctx: Context, server: Connection, name: str, character_set: str | None, collate: str | None
) -> None:
    if properties := _properties(character_set, collate):
        client.ask(ctx, server, f"ALTER DATABASE {_database_name(name)}{properties}")


def check_own(name: str) -> None:
    """Raises ``Refused`` for the server's own databases."""
    if name.lower() in SYSTEM:
        raise Refused(f"the database {name!r} belongs to the server and is not dropped")


def drop(ctx: Context, server: Connection, name: str) -> None:
    check_own(name)
    client.ask(ctx, server, f"DROP DATABASE {_database_name(name)}")


def _database_name(name: str) -> str:
    return literals.name(name, "the name of a database")


def _properties(character_set: str | None, collate: str | None) -> str:
    first = f" CHARACTER SET {_word(character_set, 'character_set')}" if character_set else ""
    return first + (f" COLLATE {_word(collate, 'collate')}" if collate else "")
