"""Pillar of databases: real PostgreSQL, MariaDB and SQLite, each entry also through Salt's code."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import mariadb_server, postgres_server
from tests.e2e.command import Done, Place
from tests.sources.salt_rows import SaltRows, salt_rows

from saltern.compat.pillars import databases
from saltern.compat.pillars.ports import Asked
from saltern.compat.pillars.rows import RowNest, queries
from saltern.language import secrets

DRIVERS = "/usr/lib/python3/dist-packages"
PASSWORD = "s3cr3t-of-salt"
TABLE = """
CREATE TABLE settings (minion VARCHAR(5), kind VARCHAR(9), name VARCHAR(9), value VARCHAR(9), port INTEGER);
INSERT INTO settings VALUES
  ('web1', 'app', 'user', 'ann', 80), ('web1', 'app', 'shell', 'zsh', NULL),
  ('web1', 'db', 'user', 'bob', 5432),
  ('web1', 'app', 'user', 'cat', 81), ('web1', 'db', 'shell', NULL, 1), ('other', 'app', 'user', 'no', 2);
CREATE TABLE documents (minion VARCHAR(20), text VARCHAR(99));
INSERT INTO documents VALUES ('web1', '{"a": {"b": [1]}}'), ('web1', '{"a": {"b": [2], "c": null}}');
"""
FOUR = "SELECT kind, name, value, port FROM settings WHERE minion = ? ORDER BY value, port"
THREE = "SELECT kind, name, value FROM settings WHERE minion = ? ORDER BY kind, name, value"
ONE = "SELECT kind FROM settings WHERE minion = ? ORDER BY kind"
JSON = "SELECT text FROM documents WHERE minion = ? ORDER BY text"
ENTRIES: dict[str, Any] = {
    "by name": {"rows": {"query": THREE}},
    "a text by name": {"rows": THREE},
    "a list by name": {"rows": [THREE, 1]},
    "without a name": [THREE],
    "with a depth in a list": [[FOUR, 2]],
    "one over the other": [THREE, [FOUR, 1]],
    "several names": {"b": THREE, "a": {"query": FOUR, "depth": 2}, "none": "", "no query": {"depth": 1}},
    "depth 1": {"rows": {"query": FOUR, "depth": 1}},
    "depth 9": {"rows": {"query": FOUR, "depth": 9}},
    "as_list": {"rows": {"query": FOUR, "as_list": True}},
    "as_list at a depth": {"rows": {"query": FOUR, "as_list": True, "depth": 1}},
    "with_lists": {"rows": {"query": FOUR, "with_lists": [1, 3]}},
    "with_lists as a text": {"rows": {"query": FOUR, "with_lists": "2"}},
    "with_lists at a depth": {"rows": {"query": FOUR, "depth": 1, "with_lists": "1,3"}},
    "ignore_null": {"rows": {"query": THREE, "ignore_null": True}},
    "one column": [ONE],
    "documents": {"rows": {"query": JSON, "as_json": True}},
    "documents with lists": {"rows": {"query": JSON, "as_json": True, "as_list": True}},
    "nothing found": {"rows": {"query": THREE.replace("= ?", "= ? AND 1 = 0")}},
}


@pytest.fixture(autouse=True)
def _no_secrets() -> Iterator[None]:
    yield
    secrets.forget()


@pytest.fixture(scope="module")
def salt() -> Iterator[SaltRows]:
    with salt_rows(DRIVERS) as found:
        yield found


class Database:
    """A database with the table: how it is configured here and for Salt, and the mark of its placeholder."""

    def __init__(self, kind: str, mark: str, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        self.kind, self.mark, self.ours, self.theirs = kind, mark, ours, theirs
        self.source: Callable[[Asked, object], object] = getattr(databases, kind)

    def entry(self, name: str) -> Any:
        return json.loads(json.dumps(ENTRIES[name]).replace("?", self.mark))

    def pillar(self, entry: object) -> object:
        return self.source(asked({self.kind: self.ours}), entry)

    def shown(self, place: Place, entry: object, *words: str, **config: object) -> Done:
        given = {"id": "web1", "ext_pillar": [{self.kind: entry}], self.kind: {**self.ours, **config}}
        place.write({"etc/saltern.yaml": json.dumps(given)})
        return place.run("show", "pillar", "--out", "json", *words)


def asked(opts: dict[str, Any]) -> Asked:
    def never(*_: object) -> Any:
        raise AssertionError

    return Asked(
        id="web1", pillar={}, opts=opts, grains={}, template=never, data=never, compiled=never, groups=never
    )


def _mariadb() -> Iterator[Database]:
    if not Path(DRIVERS, "pymysql").is_dir():
        pytest.skip("needs python3-pymysql of Debian")
    with mariadb_server.running_server() as server:
        server.sql(
            f"CREATE DATABASE salt; CREATE USER salt IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON salt.* TO salt;"
        )
        server.sql(f"USE salt; {TABLE}")
        ours = {"user": "salt", "pass": PASSWORD, "db": "salt", "unix_socket": server.socket}
        theirs = {"user": "salt", "password": PASSWORD, "database": "salt", "unix_socket": server.socket}
        yield Database("mysql", "%s", ours, theirs)


def _postgres() -> Iterator[Database]:
    with postgres_server.running_server() as server:
        server.psql(f"CREATE ROLE salt LOGIN PASSWORD '{PASSWORD}'")
        server.psql("CREATE DATABASE salt OWNER salt")
        server.psql(TABLE + "GRANT ALL ON ALL TABLES IN SCHEMA public TO salt", db="salt")
        config = {"host": "127.0.0.1", "port": server.port, "user": "salt", "pass": PASSWORD, "db": "salt"}
        yield Database("postgres", "%s", config, config)


@pytest.fixture(scope="module", params=["sqlite3", "postgres", "mysql"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    if request.param != "sqlite3":
        yield from _postgres() if request.param == "postgres" else _mariadb()
        return
    path = str(tmp_path_factory.mktemp("rows") / "pillar.db")
    with closing(sqlite3.connect(path)) as made:
        made.executescript(TABLE)
    yield Database("sqlite3", "?", {"database": path}, {"database": path})


@pytest.fixture
def _drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyMySQL of Debian, and nothing else of its Python."""
    folder = tmp_path / "drivers"
    folder.mkdir()
    (folder / "pymysql").symlink_to(f"{DRIVERS}/pymysql")
    monkeypatch.syspath_prepend(folder)


@pytest.mark.usefixtures("_drivers")
def test_every_form_of_an_entry_gives_what_it_gives_salt(database: Database, salt: SaltRows) -> None:
    for name in ENTRIES:
        entry = database.entry(name)
        theirs = salt.ask(database.kind, database.theirs, entry)
        assert json.loads(json.dumps({"data": database.pillar(entry)})) == theirs, name


@pytest.mark.usefixtures("_drivers")
def test_the_rows_are_pillar_and_a_refusal_is_a_sentence_without_the_password(
    database: Database, tmp_path: Path
) -> None:
    place = Place(tmp_path)
    found = database.shown(place, database.entry("by name"))
    assert json.loads(found.out)["local"]["rows"]["db"] == {"shell": None, "user": "bob"}, found.err
    query = f"SELECT a FROM nowhere WHERE b = {database.mark}"
    wrong = [database.shown(place, [query])]
    if database.kind != "sqlite3":
        wrong.append(database.shown(place, database.entry("by name"), **{"pass": "wr0ng-password"}))
        wrong.append(
            database.shown(place, database.entry("by name"), host="127.0.0.1", port=1, unix_socket="")
        )
    for done in wrong:
        assert done.code not in (0, 70, 99), done
        assert f"ext_pillar '{database.kind}' failed" in done.err
        assert PASSWORD not in done.out + done.err
        assert "wr0ng-password" not in done.out + done.err


words = st.sampled_from(["a", "b", None, 1])
query_words = st.fixed_dictionaries(
    {"query": st.just("q")},
    optional={
        "depth": st.integers(0, 5),
        "as_list": st.booleans(),
        "with_lists": st.lists(st.integers(1, 4), max_size=3),
        "ignore_null": st.booleans(),
    },
)
answers = st.integers(1, 4).flatmap(
    lambda count: st.tuples(
        st.just(["k", "l", "m", "n"][:count]),
        st.lists(st.lists(words, min_size=count, max_size=count), max_size=7),
    )
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers, st.lists(query_words, min_size=1, max_size=2))
def test_any_rows_become_what_salt_makes_of_them(
    salt: SaltRows, found: tuple[list[str], list[list[Any]]], entries: list[dict[str, Any]]
) -> None:
    names, rows = found
    theirs = salt.ask("rows", [names, rows], entries)
    nest = RowNest()
    try:
        for root, query in queries(list(entries)):
            nest.add(root, names, rows, query)
    except (AttributeError, TypeError):  # rows over a value of an earlier query
        assert "problem" in theirs
        return
    if "problem" not in theirs:
        assert json.loads(json.dumps({"data": nest.data})) == theirs
