"""The pages of the controller: its options, its database, its statuses, from their tables."""

from __future__ import annotations

from sqlalchemy import Column, Table, UniqueConstraint

from saltern.fleet.controller.alarms import REASONS
from saltern.fleet.controller.setting_keys import KEYS
from saltern.fleet.store.statuses import STATUSES
from saltern.fleet.store.tables import METADATA
from tools.reference.markdown import code, page, table


def options() -> str:
    rows = [(code(name), key.needs, key.about) for name, key in KEYS.items()]
    return page(
        "Options of the controller",
        "The keys of `controller.yaml`; a dot stands for a key inside of another one. All keys have a "
        "default, and all mistakes are reported at once. [Run a controller](../guides/controller.md).",
        table(("key", "value", "what for"), rows),
    )


def database() -> str:
    return page(
        "Database of the controller",
        "The tables, which are the same for SQLite and PostgreSQL. Times are seconds since 1970; structured"
        " values are JSON in bytes. Migrations create and change the tables when a controller starts. You "
        "may read them, but write only through the [API](api.md).",
        *(f"## {one.name}\n\n{_sentence(one.comment)}\n\n{_columns(one)}" for one in METADATA.sorted_tables),
    )


def statuses() -> str:
    rows = [
        (code(name), row.about, "ends it" + (", may be corrected" if row.guess else "") if row.ends else "")
        for name, row in STATUSES.items()
    ]
    refusals = [(code(name), about) for name, about in REASONS.items()]
    return page(
        "Statuses of jobs",
        "The statuses of a job on each of its systems.",
        table(("status", "meaning", ""), rows),
        "## Refused messages\n\nMessages of agents that a controller does not accept. They are counted by "
        "reason"
        " (`saltern_refused_total`), and each reason of each system is an event `saltern/alarm`, once a"
        " minute.",
        table(("reason", "meaning"), refusals),
    )


def _sentence(text: str | None) -> str:
    return f"{(text or '')[:1].upper()}{(text or '')[1:]}."


def _columns(one: Table) -> str:
    return table(
        ("column", "type", ""), [(code(c.name), str(c.type).lower(), _notes(one, c)) for c in one.columns]
    )


def _notes(one: Table, column: Column[object]) -> str:
    unique = any(
        column.name in found.columns for found in one.constraints if isinstance(found, UniqueConstraint)
    )
    notes = [
        ("part of the key", column.primary_key),
        ("unique with others", unique),
        ("may be missing", bool(column.nullable) and not column.primary_key),
        *((f"of {key.column.table.name}", True) for key in column.foreign_keys),
    ]
    return ", ".join(text for text, holds in notes if holds)
