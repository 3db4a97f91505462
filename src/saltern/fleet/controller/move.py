"""Copies a controller's database into another one: SQLite to PostgreSQL before controllers join, or back."""

from __future__ import annotations

from msgspec import Struct

from saltern.fleet.controller.backup import database_address
from saltern.fleet.controller.paths import ControllerPaths
from saltern.fleet.controller.settings import ControllerSettings
from saltern.fleet.store import audit
from saltern.fleet.store.copy import copy_database
from saltern.fleet.store.database import open_database
from saltern.fleet.store.migrate import migrate
from saltern.language.diagnostics import Diagnostic, OperationError


class Moved(Struct, frozen=True):
    """How many rows were copied, of how many tables."""

    rows: int
    tables: int


def move_database(paths: ControllerPaths, settings: ControllerSettings, address: str, *, now: float) -> Moved:
    """Copy all tables into an empty database; the old one stays as it is."""
    before = database_address(paths, settings)
    source, target = open_database(before), open_database(address)
    try:
        if source.engine.url == target.engine.url:
            what, fix = "the controller already uses this database", "name the one to move to"
            raise OperationError(Diagnostic(code="database-copy", what=what, fix=fix))
        migrate(source)
        migrate(target)
        counts = copy_database(source, target)
        with target.write() as connection:
            detail = {"from": source.engine.dialect.name, "to": target.engine.dialect.name}
            audit.append(connection, "controller", "controller.move-database", detail, now)
    finally:
        source.close()
        target.close()
    return Moved(sum(counts.values()), len(counts))
