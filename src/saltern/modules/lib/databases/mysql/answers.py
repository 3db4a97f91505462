"""The output of the client with ``--xml``, as rows.

Parsed with regular expressions rather than an XML library: values are escaped, so that no ``<`` or ``"`` is
in them, but they may contain control characters, which XML libraries reject.
"""

from __future__ import annotations

import re

from msgspec import Struct

RESULT = re.compile(r'<resultset statement="[^"]*"[^>]*>(.*?)</resultset>', re.DOTALL)
ROW = re.compile(r"<row>(.*?)</row>", re.DOTALL)
FIELD = re.compile(r'<field name="([^"]*)"(?: xsi:nil="true" />|>([^<]*)</field>)')
AFFECTED = re.compile(r"^Query OK, (\d+) rows? affected", re.MULTILINE)
SIGNS = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&"}
ESCAPED = re.compile("|".join(SIGNS))

Value = str | None
Row = dict[str, Value]


class Table(Struct, frozen=True):
    """One result. The client names no columns if there are no rows."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Value, ...], ...] = ()

    def mappings(self) -> list[Row]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def tables(printed: str) -> list[Table]:
    """All results, in order. A statement without a result, such as an UPDATE, prints none."""
    return [_table(found[1]) for found in RESULT.finditer(printed)]


def affected_rows(printed: str) -> int:
    """The number of rows that all statements changed; only a verbose client prints it."""
    return sum(int(count) for count in AFFECTED.findall(RESULT.sub("", printed)))


def _table(body: str) -> Table:
    rows = [list(FIELD.finditer(row)) for row in ROW.findall(body)]
    columns = tuple(_plain(field[1]) for field in rows[0]) if rows else ()
    return Table(columns, tuple(tuple(_value(field[2]) for field in row) for row in rows))


def _value(found: str | None) -> Value:
    return None if found is None else _plain(found)


def _plain(value: str) -> str:
    return ESCAPED.sub(lambda found: SIGNS[found[0]], value)
