"""Privileges and their levels: from users' text, from ``SHOW GRANTS``, and as sets."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from msgspec import Struct

from saltern.language.diagnostics import did_you_mean
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.mysql import literals
from saltern.modules.lib.databases.mysql.literals import unquote

# A privilege and the column it is limited to; an empty one for none.
Privileges = frozenset[tuple[str, str]]

ALL = ("ALL PRIVILEGES", "")
USAGE = ("USAGE", "")
GRANT_OPTION = ("GRANT OPTION", "")
SPECIAL = frozenset({"USAGE", "PROXY", "GRANT OPTION"})

# Other names of privileges; the right side is used if the server knows only that.
ALIASES = {
    "REPLICATION CLIENT": "BINLOG MONITOR",
    "REPLICATION REPLICA": "REPLICATION SLAVE",
    "REPLICATION REPLICA ADMIN": "REPLICATION SLAVE ADMIN",
    "REPLICA MONITOR": "SLAVE MONITOR",
    "READ ONLY ADMIN": "READ_ONLY ADMIN",
    "DELETE VERSIONING ROWS": "DELETE HISTORY",
}

NAME = "`(?:[^`]|``)*`"
TEXT = r"'(?:[^'\\]|''|\\.)*'"
ONE = re.compile(rf"\s*(?P<what>[A-Za-z_][A-Za-z_ ]*?)\s*(?:\((?P<columns>(?:[^`()]|{NAME})*)\))?\s*(?:,|$)")
COLUMN = re.compile(rf"\s*({NAME}|[^,`\s][^,`]*?)\s*(?:,|$)")
SHOWN = re.compile(
    rf"GRANT (?P<what>(?:[^`]|{NAME})+?) ON (?:(?P<kind>TABLE|FUNCTION|PROCEDURE) )?"
    rf"(?P<schema>{NAME}|\*)\.(?P<object>{NAME}|\*) TO "
    rf"(?P<user>{NAME}|{TEXT})(?:@(?P<host>{NAME}|{TEXT}))?(?P<rest>.*)",
    re.DOTALL,
)
QUOTED = re.compile(f"{NAME}|{TEXT}", re.DOTALL)
PLACE = re.compile(r"(?:(?P<kind>FUNCTION|PROCEDURE|TABLE)\s+)?(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
IN_BACKTICKS = re.compile(rf"({NAME}|\*)\.({NAME}|\*)")


class Level(Struct, frozen=True):
    """The level of a grant. ``schema`` is a pattern if ``object`` is ``*``, and a name otherwise."""

    schema: str
    object: str
    kind: str = ""

    def __str__(self) -> str:
        kind = f"{self.kind} " if self.kind else ""
        return f"{kind}{_star_or_name(self.schema)}.{_star_or_name(self.object)}"


class Grant(Struct, frozen=True):
    privileges: Privileges
    level: Level
    option: bool
    user: str
    host: str


def _star_or_name(value: str) -> str:
    return value if value == "*" else literals.name(value)


def level(database: str, *, escape: bool) -> Level:
    """The level from ``db.table``, ``db.*`` or ``*.*``, with or without backticks.

    Without ``escape``, ``_`` and ``%`` in the name of a database are wildcards.
    """
    found = PLACE.fullmatch(database.strip())
    assert found is not None  # the rest may be anything
    kind = (found["kind"] or "").upper().replace("TABLE", "")
    in_backticks = IN_BACKTICKS.fullmatch(found["rest"])
    schema, dot, name = (
        (in_backticks[1], ".", in_backticks[2]) if in_backticks else found["rest"].rpartition(".")
    )
    if not dot or not schema or not name or (schema == "*" and name != "*"):
        raise Refused(f"database cannot be {database!r}; use db.table, db.* or *.*")
    schema, name = unquote(schema), unquote(name)
    if escape and name == "*" and schema != "*":
        schema = literals.literal_pattern(schema)
    made = Level(schema, name, kind)
    str(made)  # refuses an impossible name
    return made


def privileges(words: str) -> Privileges:
    """The privileges from ``select, insert (a, b)``. Raises ``Refused`` if it is not a list of privileges."""
    found: set[tuple[str, str]] = set()
    at = 0
    while at < len(words):
        one = ONE.match(words, at)
        if one is None:
            raise Refused(f"grant cannot be {words!r}; use a list such as 'select, insert (name)'")
        at = one.end()
        name = " ".join(one["what"].upper().split())
        name = "ALL PRIVILEGES" if name == "ALL" else name
        columns = COLUMN.findall(one["columns"] or "")
        found |= {(name, unquote(column)) for column in columns} or {(name, "")}
    if not found:
        raise Refused("grant is empty; give a list of privileges such as 'select, insert'")
    return frozenset(found)


def server_names(wanted: Privileges, server: Collection[str]) -> Privileges:
    """The privileges by their names on the server. Raises ``Refused`` for an unknown one."""
    fine = {*server, *SPECIAL, ALL[0]}
    renamed = frozenset(
        (ALIASES.get(name, name) if name not in fine else name, column) for name, column in wanted
    )
    for name, _ in renamed:
        if name not in fine or name == "PROXY":
            hint = did_you_mean(name, fine)
            raise Refused(f"this server has no privilege {name!r}" + (f"; {hint}" if hint else ""))
    return renamed


def parse_grant_line(line: str) -> Grant | None:
    """A line of ``SHOW GRANTS``; None for one about roles or proxies."""
    found = SHOWN.fullmatch(line)
    if found is None:
        return None
    place = Level(
        unquote(found["schema"]), unquote(found["object"]), (found["kind"] or "").replace("TABLE", "")
    )
    option = "GRANT OPTION" in QUOTED.sub("", found["rest"])
    user, host = (unquote(found[part] or "").strip("'") for part in ("user", "host"))
    return Grant(privileges(found["what"]) - {USAGE}, place, option, user, host)


def without_login(line: str) -> str:
    """A line of ``SHOW GRANTS`` without the password hash that some servers add."""
    found, grant = SHOWN.fullmatch(line), parse_grant_line(line)
    if found is None or grant is None:
        return line
    return line[: found.start("rest")] + (" WITH GRANT OPTION" if grant.option else "")


def sql(some: Iterable[tuple[str, str]]) -> str:
    """The privileges as text for GRANT or REVOKE."""
    columns: dict[str, list[str]] = {}
    for name, column in sorted(some):
        columns.setdefault(name, []).append(column)
    return ", ".join(_limit_to_columns(name, [one for one in ones if one]) for name, ones in columns.items())


def _limit_to_columns(name: str, columns: list[str]) -> str:
    return f"{name} ({', '.join(map(literals.name, columns))})" if columns else name
