"""Checks the file of a database for damage."""

from __future__ import annotations

from sqlalchemy import text

from saltern.fleet.store.database import Database


def find_damage(database: Database) -> str:
    """What is damaged; empty if nothing is, or if a server manages its files itself."""
    if not database.is_sqlite:
        return ""
    with database.read() as connection:
        first = str(connection.scalar(text("PRAGMA quick_check(1)")))
    return "" if first == "ok" else f"the file of the database is damaged: {first}"
