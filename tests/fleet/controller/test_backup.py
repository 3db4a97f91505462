"""Backups: what is in them comes back, with both kinds of database, and no other file is taken for one."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.postgres_server import Server, running_server

from saltern.fleet.broker.authority import load_or_make_authority
from saltern.fleet.controller.backup import back_up, restore
from saltern.fleet.controller.identity import load_identity, load_or_make_identity
from saltern.fleet.controller.paths import ControllerPaths, controller_paths
from saltern.fleet.controller.recover import generation
from saltern.fleet.controller.settings import ControllerSettings
from saltern.fleet.store.database import open_database
from saltern.fleet.store.groups import groups, set_group
from saltern.fleet.store.migrate import migrate
from saltern.language.diagnostics import OperationError


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> ControllerSettings:
    (tmp_path / "c/controller").mkdir(parents=True)
    if request.param == "sqlite":
        return ControllerSettings(database=f"sqlite:///{tmp_path}/c/controller/fleet.db")
    if shutil.which("pg_dump") is None:
        pytest.skip("needs pg_dump")
    server: Server = request.getfixturevalue("server")
    server.psql("DROP DATABASE IF EXISTS fleet")
    server.psql("CREATE DATABASE fleet")
    return ControllerSettings(database=f"postgresql://postgres@/fleet?host={server.place}&port={server.port}")


def set_up(paths: ControllerPaths) -> None:
    load_or_make_identity(paths.keys, fleet="fleet-1", name="c1", now=1e9)
    load_or_make_authority(os.path.join(paths.broker, "keys"), "fleet-1")


def note(settings: ControllerSettings, name: str) -> None:
    database = open_database(settings.database)
    migrate(database)
    with database.write() as connection:
        set_group(connection, name, "*")
    database.close()


def test_keys_and_database_come_back(tmp_path: Path, settings: ControllerSettings) -> None:
    paths, file = controller_paths(str(tmp_path / "c")), str(tmp_path / "backup")
    set_up(paths)
    note(settings, "before")
    before = load_identity(paths.keys)
    back_up(paths, settings, file, now=5.0)
    note(settings, "after")
    shutil.rmtree(paths.keys)
    shutil.rmtree(paths.broker)
    assert restore(paths, settings, file).fleet == "fleet-1"
    again = load_identity(paths.keys)
    assert (again.key.seed, again.file) == (before.key.seed, before.file)
    assert os.path.isfile(os.path.join(paths.broker, "keys/authority.json"))
    database = open_database(settings.database)
    with database.read() as connection:
        assert groups(connection).keys() == {"before"}
        first = generation(connection)
    database.close()
    restore(paths, settings, file)
    database = open_database(settings.database)
    with database.read() as connection:
        assert first and generation(connection) not in ("", first)  # streams are read again each time
    database.close()


def member(name: str, data: bytes = b"x") -> tuple[tarfile.TarInfo, io.BytesIO]:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return info, io.BytesIO(data)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "state/keys/other.key", "config/x"])
def test_an_archive_with_a_strange_part_is_refused_and_nothing_is_touched(tmp_path: Path, name: str) -> None:
    paths, file = controller_paths(str(tmp_path / "c")), tmp_path / "backup"
    set_up(paths)
    before = load_identity(paths.keys).key.seed
    with tarfile.open(file, "w:gz") as archive:
        archive.addfile(*member(name))
    with pytest.raises(OperationError, match="a part that does not belong to a backup"):
        restore(paths, ControllerSettings(), str(file))
    assert load_identity(paths.keys).key.seed == before


def test_a_damaged_archive_is_refused_wherever_it_is_damaged(tmp_path: Path) -> None:
    paths, file = controller_paths(str(tmp_path / "c")), tmp_path / "backup"
    set_up(paths)
    settings = ControllerSettings(database=f"sqlite:///{paths.state}/fleet.db")
    note(settings, "before")
    back_up(paths, settings, str(file), now=5.0)
    data = file.read_bytes()
    for at in range(0, len(data), max(1, len(data) // 40)):
        file.write_bytes(data[:at])
        with pytest.raises(OperationError):
            restore(paths, settings, str(file))
    assert load_identity(paths.keys).file.fleet == "fleet-1"
