"""Migrates a database to the schema of this program: forward only, in one transaction if the database can."""

from __future__ import annotations

import os

from sqlalchemy import inspect, text

from saltern.fleet.store.database import Database

VERSIONS = os.path.join(os.path.dirname(__file__), "migrations", "versions")


def migrate(database: Database) -> str:
    """Bring the database up to date; return the name of its version."""
    if (current := present(database)) == newest():
        return current  # without Alembic, whose import takes longer than the rest of opening a database
    from saltern.fleet.store.upgrade import upgrade

    return upgrade(database)


def present(database: Database) -> str:
    """The version that a database has; empty if it has none."""
    with database.read() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return ""
        return str(connection.scalar(text("SELECT version_num FROM alembic_version")) or "")


def newest() -> str:
    """The version that this program works with: ``0014`` if the newest migration is ``m0014_….py``."""
    return max(name for name in os.listdir(VERSIONS) if name.startswith("m"))[1:5]
