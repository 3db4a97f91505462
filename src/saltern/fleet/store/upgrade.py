"""Runs the migrations that a database lacks, with Alembic."""

from __future__ import annotations

import os

import alembic.command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from saltern.fleet.store.database import Database, serialize
from saltern.language.diagnostics import Diagnostic, OperationError

FOLDER = os.path.join(os.path.dirname(__file__), "migrations")


def upgrade(database: Database) -> str:
    """Bring the database to the newest version; return its name."""
    config = make_config()
    with database.write() as connection:
        serialize(connection, "migration")  # two controllers may start at once
        _check_known(connection, config)
        config.attributes["connection"] = connection
        alembic.command.upgrade(config, "head")
        return str(MigrationContext.configure(connection).get_current_revision())


def make_config() -> Config:
    config = Config()
    config.set_main_option("script_location", FOLDER.replace("%", "%%"))
    return config


def _check_known(connection: Connection, config: Config) -> None:
    """Refuse a database that a newer program has migrated."""
    current = MigrationContext.configure(connection).get_current_revision()
    if current is None:
        return
    try:
        ScriptDirectory.from_config(config).get_revision(current)
    except CommandError:
        raise OperationError(
            Diagnostic(
                code="database-newer",
                what=f"the database has the schema {current!r}, which this version of saltern does not know",
                fix="upgrade saltern on this controller, or restore a backup made before the upgrade",
            )
        ) from None
