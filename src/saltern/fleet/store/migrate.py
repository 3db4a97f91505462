"""Bring a database to the schema of this program: forward only, in one transaction where the database can."""

from __future__ import annotations

import os

from alembic.command import upgrade
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from saltern.fleet.store.database import Database, serialize
from saltern.language.diagnostics import Diagnostic, OperationError

FOLDER = os.path.join(os.path.dirname(__file__), "migrations")


def migrate(database: Database) -> str:
    """Bring the database up to date; return the name of its version."""
    config = _config()
    with database.write() as connection:
        serialize(connection, "migration")  # two controllers may start at once
        _check_known(connection, config)
        config.attributes["connection"] = connection
        upgrade(config, "head")
        return str(MigrationContext.configure(connection).get_current_revision())


def present(database: Database) -> str:
    """The version that a database has; empty if it has none."""
    with database.read() as connection:
        return str(MigrationContext.configure(connection).get_current_revision() or "")


def newest() -> str:
    """The version that this program works with."""
    return str(ScriptDirectory.from_config(_config()).get_current_head())


def _config() -> Config:
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
