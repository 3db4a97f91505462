"""``mysql_query``, on a real MariaDB server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mariadb_server import Server
from tests.modules.bench import Bench

from saltern.config.files import mapping
from saltern.config.settings import Settings
from saltern.language.result import Outcome
from saltern.modules.functions import mysql
from saltern.modules.states import mysql_query

pytestmark = pytest.mark.machine


@pytest.fixture
def bench(tmp_path: Path, server: Server) -> Iterator[Bench]:
    server.sql("CREATE DATABASE `saltern-t-q`; CREATE TABLE `saltern-t-q`.t (a INT, b TEXT)")
    yield Bench(tmp_path, mysql_query, functions={"mysql": mysql}, opts={"mysql.unix_socket": server.socket})
    server.sql("DROP DATABASE `saltern-t-q`")


def test_a_query_runs_each_time_and_its_answer_is_the_comment(bench: Bench, server: Server) -> None:
    insert = "INSERT INTO t VALUES (1, 'NULL'), (2, NULL), (3, '<a>&\"\\\\\\n')"
    foretold = bench.call("run", "it", database="saltern-t-q", query=insert, test=True)
    assert (foretold.outcome, foretold.changes) == (Outcome.WOULD_CHANGE, {"query": "Executed"})
    assert server.sql("SELECT COUNT(*) FROM `saltern-t-q`.t") == "0\n"
    done = bench.call("run", "it", database="saltern-t-q", query=insert)
    assert (done.outcome, done.changes) == (Outcome.OK, foretold.changes)
    assert "'rows affected': 3" in done.comment
    read = bench.call("run", "it", database="saltern-t-q", query="SELECT * FROM t")
    answer = read.data["answer"]
    assert isinstance(answer, dict)
    assert answer["results"] == [{"a": "1", "b": "NULL"}, {"a": "2", "b": None}, {"a": "3", "b": '<a>&"\\\n'}]


def test_an_answer_goes_into_a_file_or_a_grain_once(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "answer"
    query: dict[str, Any] = {
        "database": "saltern-t-q",
        "query": "SELECT 1 AS one, NULL AS none",
        "overwrite": False,
    }
    done = bench.call("run", "it", output=str(file), **query)
    assert done.changes == {"query": f"Executed. Output into {file}"}
    assert file.read_text() == "one:1\nnone:NULL\n"
    bench.same("run", "it", output=str(file), **query)


def test_a_file_of_sql_with_its_own_delimiter_runs(bench: Bench, server: Server) -> None:
    (bench.tree / "shop.sql").write_text(
        "-- a comment; with a semicolon\nINSERT INTO t VALUES (1, 'a;b');\nDELIMITER //\n"
        "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END//\nDELIMITER ;\nUPDATE t SET a = 2"
    )
    done = bench.call("run_file", "it", database="saltern-t-q", query_file="salt://shop.sql")
    assert done.outcome is Outcome.OK, done
    assert "'rows affected': 2" in done.comment
    assert server.sql("SELECT a, b FROM `saltern-t-q`.t") == "2\ta;b\n"


def test_the_clients_own_commands_are_not_to_be_had(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "broken-in"
    for command in (f"\\! touch {file}", f"system touch {file}", f"source {file}", f"tee {file}"):
        bench.refusal("run", "it", database="saltern-t-q", query=command)
    assert not file.exists()


def test_what_cannot_be_is_refused_in_words(bench: Bench) -> None:
    assert "Database saltern-t-none is not present" in bench.refusal(
        "run", "it", database="saltern-t-none", query="x"
    )
    wrong = bench.refusal("run", "it", database="saltern-t-q", query="SELECT nope FROM t")
    assert wrong == "MySQL Error 1054: Unknown column 'nope' in 'SELECT'"
    assert "needs the argument grain" in bench.refusal(
        "run", "it", database="saltern-t-q", query="x", output="grain"
    )
    assert "full path" in bench.refusal("run", "it", database="saltern-t-q", query="x", output="rel/ative")
    assert "there is no file" in bench.refusal(
        "run_file", "it", database="saltern-t-q", query_file="salt://no.sql"
    )
    assert "there is no file" in bench.refusal("run_file", "/no/such.sql", database="saltern-t-q")


def test_without_the_check_the_query_may_make_the_database(bench: Bench, server: Server) -> None:
    make: dict[str, Any] = {
        "database": "saltern-t-new",
        "query": "CREATE DATABASE `saltern-t-new`",
        "check_db_exists": False,
    }
    assert bench.call("run", "it", **make).outcome is Outcome.OK
    server.sql("DROP DATABASE `saltern-t-new`")


def test_an_answer_goes_into_one_key_of_a_grain(bench: Bench, tmp_path: Path) -> None:
    bench.run.settings = Settings(grains_file=str(tmp_path / "grains"))
    (tmp_path / "grains").write_text("kept: [1]\n")
    query: dict[str, Any] = {"database": "saltern-t-q", "query": "SELECT 1 AS one", "overwrite": False}
    into: dict[str, Any] = {"output": "grain", "grain": "asked", "key": "shop"}
    done = bench.call("run", "it", **into, **query)
    assert done.changes == {"query": "Executed. Output into grain: asked:shop"}
    kept = mapping(str(tmp_path / "grains"))
    assert kept["kept"] == [1]
    assert kept["asked"]["shop"]["results"] == [{"one": "1"}]  # type: ignore[index]
    bench.same("run", "it", **into, **query)
