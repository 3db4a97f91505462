"""Opening and migrating: one schema for both databases, forward only, and refusals that say what to do."""

from __future__ import annotations

import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import QueuePool, create_engine, insert, select, text

from saltern.fleet.store.database import Database, open_database
from saltern.fleet.store.migrate import migrate, newest
from saltern.fleet.store.settings import read_setting, write_setting
from saltern.fleet.store.tables import GROUPS, METADATA
from saltern.fleet.store.upgrade import make_config
from saltern.language.diagnostics import OperationError


def test_the_migrations_lead_to_the_tables_of_the_program(database: Database) -> None:
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


def test_migrating_again_changes_nothing(database: Database) -> None:
    assert migrate(database) == newest()


def test_the_newest_version_is_the_last_that_alembic_knows() -> None:
    assert newest() == ScriptDirectory.from_config(make_config()).get_current_head()


def test_controllers_that_start_at_once_migrate_one_after_the_other(address: str) -> None:
    problems: list[BaseException] = []

    def start() -> None:
        database = open_database(address)
        try:
            migrate(database)
        except BaseException as problem:
            problems.append(problem)
        finally:
            database.close()

    threads = [threading.Thread(target=start) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert problems == []


def test_a_database_of_a_newer_program_is_refused(database: Database) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(OperationError) as refused:
        migrate(database)
    assert refused.value.diagnostics[0].code == "database-newer"
    assert "upgrade saltern" in refused.value.diagnostics[0].fix


def test_a_block_that_raises_writes_nothing(database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.write() as connection:
        connection.execute(insert(GROUPS).values(name="canary", expression="web1"))
        raise ZeroDivisionError
    with database.read() as connection:
        assert connection.execute(select(GROUPS)).all() == []


def test_writers_wait_for_each_other(database: Database) -> None:
    """Each reads, then writes what it read plus one: none is lost."""
    with database.write() as connection:
        connection.execute(insert(GROUPS).values(name="count", expression="0"))

    def add() -> None:
        for _ in range(10):
            with database.write() as connection:
                row = select(GROUPS.c.expression).where(GROUPS.c.name == "count").with_for_update()
                number = int(connection.scalar(row) or 0)
                connection.execute(GROUPS.update().values(expression=str(number + 1)))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    with database.read() as connection:
        assert connection.scalar(select(GROUPS.c.expression)) == "40"


@pytest.mark.parametrize(
    "address", ["", "nonsense", "mysql://root@localhost/fleet", "sqlite+weird:///x", "postgresql://a:b@"]
)
def test_an_address_that_is_not_understood_is_refused_without_its_password(address: str) -> None:
    try:
        open_database(address).close()
    except OperationError as refused:
        said = str(refused.diagnostics[0])
        assert refused.diagnostics[0].code == "database-address"
        assert "a:b" not in said


def test_the_password_of_an_unknown_scheme_is_not_shown() -> None:
    with pytest.raises(OperationError) as refused:
        open_database("oracle://joe:s3c:r@t@db/fleet")
    assert "s3c" not in str(refused.value.diagnostics[0])


def test_a_database_that_is_away_is_named_without_its_password(tmp_path: Path) -> None:
    database = open_database(f"postgresql://joe:s3cret@/fleet?host={tmp_path}")
    with pytest.raises(OperationError) as refused, database.read():
        pass
    problem = refused.value.diagnostics[0]
    assert problem.code == "database-error"
    assert "s3cret" not in problem.what and "joe" in problem.what


def test_a_database_that_hangs_until_no_connection_is_left_is_a_refusal_too(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'fleet.db'}"
    engine = create_engine(address, poolclass=QueuePool, pool_size=1, max_overflow=0, pool_timeout=0.01)
    database = Database(engine)
    refuses = pytest.raises(OperationError, match="all connections to it wait for an answer")
    with database.read(), refuses as refused, database.read():
        pass
    database.close()
    assert refused.value.diagnostics[0].code == "database-error"


def test_the_file_of_sqlite_is_for_its_owner_only(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        database = open_database(f"sqlite:///{tmp_path / 'fleet.db'}")
        migrate(database)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
        database.close()
    finally:
        os.umask(old)
    assert modes["fleet.db"] == 0o600
    assert all(not mode & 0o077 for mode in modes.values()), modes


def test_each_thread_looks_over_a_connection_of_its_own(database: Database) -> None:
    with database.write() as connection:
        write_setting(connection, "n", 0)
    start = Barrier(8)

    def look(_number: int) -> tuple[int, list[int]]:
        found = []
        start.wait()
        for _ in range(50):
            with database.look() as connection:
                found.append(read_setting(connection, "n", int) or 0)
                own = id(connection) if database.is_sqlite else 0
        return own, found

    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(look, number) for number in range(8)]
        for number in range(1, 20):
            with database.write() as connection:
                write_setting(connection, "n", number)
        answers = [one.result() for one in asked]
    assert all(found == sorted(found) for _, found in answers)
    assert len({own for own, _ in answers}) == (8 if database.is_sqlite else 1)
    with database.look() as connection:
        assert read_setting(connection, "n", int) == 19
