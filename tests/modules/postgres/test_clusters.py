"""``postgres_initdb`` and ``postgres_cluster``: real directories, and a real cluster of Debian's."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost, alone, needs_root
from tests.postgres_server import BINARIES

from saltern.modules.functions import postgres as functions
from saltern.modules.states import postgres_cluster, postgres_initdb
from saltern.system.process import Ran

VERSION = Path(BINARIES).parent.name if BINARIES else ""
installed = pytest.mark.skipif(BINARIES is None, reason="needs the package postgresql")


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that the server's user may write to."""
    place = Path(tempfile.mkdtemp(prefix="saltern-t-pg"))
    shutil.chown(place, "postgres", "postgres")
    try:
        yield place
    finally:
        shutil.rmtree(place)


@installed
@needs_root()
def test_a_data_directory_is_initialized(tmp_path: Path, place: Path) -> None:
    bench = Bench(tmp_path, postgres_initdb, functions={"postgres": functions})
    data = place / "da ta"
    secret = "hush-Kd8-do-not-tell"
    done = bench.change(
        "present",
        str(data),
        user="boss",
        password=secret,
        auth="scram-sha-256",
        checksums=True,
        waldir=str(place / "wal"),
        locale="C.UTF-8",
    )
    assert done.changes == {str(data): "Present"}
    assert done.data == {"name": str(data), "exists": True, "version": VERSION}
    assert (data / "pg_wal").is_symlink()
    assert "scram-sha-256" in (data / "pg_hba.conf").read_text()
    assert secret not in repr(done)
    assert bench.salt["postgres.datadir_exists"](str(data)) is True
    assert bench.salt["postgres.datadir_init"](str(data)) is False
    assert bench.salt["postgres.datadir_init"](str(place / "second"), auth="trust") is True
    left = list(Path(tempfile.gettempdir()).glob("saltern-initdb-*"))
    assert left == []


@installed
@needs_root()
def test_what_initdb_will_not_have_is_reported(tmp_path: Path, place: Path) -> None:
    bench = Bench(tmp_path, postgres_initdb)
    (place / "full").mkdir()
    (place / "full" / "file").write_text("x")
    assert "exists but is not empty" in bench.refusal("present", str(place / "full"), auth="trust")
    assert "must specify a password" in bench.refusal("present", str(place / "x"))
    assert "hush" not in bench.refusal("present", str(place / "x"), auth="magic", password="hush")
    assert "must be an absolute path" in bench.refusal("present", "data")
    assert "no user is called 'nobody-at-all'" in bench.refusal(
        "present", str(place / "x"), runas="nobody-at-all", password="p"
    )


@installed
@needs_root("pg_createcluster", "pg_dropcluster", "pg_lsclusters")
def test_a_cluster_of_debian_comes_and_goes(tmp_path: Path, place: Path) -> None:
    bench = Bench(tmp_path, postgres_cluster, functions={"postgres": functions})
    data = place / "cluster"
    name = "saltern-t-cluster"
    with alone():
        try:
            args = {"version": VERSION, "port": 54999, "datadir": str(data)}
            done = bench.change("present", name, encoding="UTF8", data_checksums=True, **args)
            assert done.changes == {f"{VERSION}/{name}": "Present"}
            assert done.data["datadir"] == str(data) and done.data["status"] == "down"
            listed = bench.salt["postgres.cluster_list"](verbose=True)
            assert isinstance(listed, dict) and listed[f"{VERSION}/{name}"]["port"] == 54999
            assert bench.salt["postgres.cluster_exists"](VERSION, name) is True
            refusal = bench.refusal("present", name, version=VERSION, port=54998)
            assert "has the port 54999, not 54998" in refusal
            assert "has the datadir" in bench.refusal("present", name, version=VERSION, datadir="/else")
        finally:
            gone = bench.call("absent", name, version=VERSION)
        assert gone.changes == {name: "Absent"}
        bench.same("absent", name, version=VERSION)
    assert not data.exists()


RECORDED = """[{"configdir":"/etc/postgresql/15/main","configuid":101,"logfile":"/var/log/postgresql/15.log",
"socketdir":"/var/run/postgresql","pgdata":"/var/lib/postgresql/15/main","cluster":"main","owneruid":0,
"config":{"port":"5432","ssl":"off"},"running":1,"version":15,"start":"auto","port":"5432","ownergid":104},
{"logfile":"/x.log","pgdata":"/d","cluster":"old","owneruid":0,"running":0,"version":"9.6","port":5433}]"""


def test_clusters_are_read_as_debian_tells_them(tmp_path: Path) -> None:
    """Recorded from pg_lsclusters of postgresql-common 248; the second row is made like an old release's."""
    host = ScriptedHost({"pg_lsclusters --json": Ran(0, RECORDED)})
    bench = Bench(tmp_path, postgres_cluster, functions={"postgres": functions}, host=host)
    assert bench.salt["postgres.cluster_list"]() == ["15/main", "9.6/old"]
    done = bench.same("present", "old", version=9.6)
    assert done.data == {
        "name": "old",
        "exists": True,
        "version": "9.6",
        "port": 5433,
        "status": "down",
        "user": "root",
        "datadir": "/d",
        "log": "/x.log",
    }


def test_a_machine_without_clusters_says_what_is_missing(tmp_path: Path) -> None:
    bench = Bench(tmp_path, postgres_cluster, host=ScriptedHost({}))
    assert "'pg_lsclusters' is not on this machine" in bench.refusal("present", "main", version="15")
    assert "becomes the name of a directory" in bench.refusal("absent", "../../etc", version="15")
    assert "becomes the name of a directory" in bench.refusal("present", "--stop", version="15")
