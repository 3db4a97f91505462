"""``mysql_grants``, on a real MariaDB server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mariadb_server import Server
from tests.modules.bench import Bench
from tests.modules.mysql.names import AWKWARD

from saltern.language.result import Outcome
from saltern.modules.functions import mysql
from saltern.modules.lib.databases.mysql.literals import name as quoted
from saltern.modules.lib.databases.mysql.literals import text
from saltern.modules.states import mysql_grants

pytestmark = pytest.mark.machine
WHO = "'saltern-t-g'@'localhost'"
SELECT = {"database": "saltern-t-db.*", "user": "saltern-t-g"}


@pytest.fixture
def bench(tmp_path: Path, server: Server) -> Iterator[Bench]:
    server.sql(f"CREATE DATABASE `saltern-t-db`; CREATE USER {WHO} IDENTIFIED BY 'secret'")
    yield Bench(tmp_path, mysql_grants, functions={"mysql": mysql}, opts={"mysql.unix_socket": server.socket})
    server.sql(f"DROP USER {WHO}; DROP DATABASE `saltern-t-db`")


def grants(server: Server) -> list[str]:
    """All but the first, which everybody has."""
    return [line.partition(" TO ")[0] for line in server.sql(f"SHOW GRANTS FOR {WHO}").splitlines()[1:]]


def test_privileges_are_given_once_and_taken_once(bench: Bench, server: Server) -> None:
    done = bench.change("present", "it", grant="select,Insert", **SELECT)
    assert done.changes == {"it": "Present"}
    assert done.data["privileges"] == "INSERT, SELECT"
    assert grants(server) == ["GRANT SELECT, INSERT ON `saltern-t-db`.*"]
    bench.same("present", "it", grant=["select"], **SELECT)
    bench.change("present", "it", grant="create temporary tables", grant_option=True, **SELECT)
    gone = bench.change("absent", "it", grant="insert, update", **SELECT)
    assert gone.changes == {"it": "Absent"}
    assert grants(server) == ["GRANT SELECT, CREATE TEMPORARY TABLES ON `saltern-t-db`.*"]
    bench.change("absent", "it", grant="all", grant_option=True, **SELECT)
    assert grants(server) == []
    bench.same("absent", "it", grant="all privileges", **SELECT)


def test_all_covers_each_and_one_may_be_taken_out_of_all(bench: Bench, server: Server) -> None:
    bench.change("present", "it", grant="all", **SELECT)
    assert grants(server) == ["GRANT ALL PRIVILEGES ON `saltern-t-db`.*"]
    bench.same("present", "it", grant="select, drop", **SELECT)
    bench.change("absent", "it", grant="drop", **SELECT)
    assert "DROP" not in grants(server)[0]
    bench.change("present", "it", grant="ALL PRIVILEGES", **SELECT)


def test_revoke_first_leaves_no_more_than_what_is_named(bench: Bench, server: Server) -> None:
    bench.change("present", "it", grant="all", grant_option=True, **SELECT)
    bench.change("present", "it", grant="select", revoke_first=True, **SELECT)
    assert grants(server) == ["GRANT SELECT ON `saltern-t-db`.*"]
    bench.change("present", "it", grant="select, insert, update", **SELECT)
    bench.change("present", "it", grant="select, update", revoke_first=True, **SELECT)
    assert grants(server) == ["GRANT SELECT, UPDATE ON `saltern-t-db`.*"]


def test_columns_tables_procedures_and_everything(bench: Bench, server: Server) -> None:
    server.sql("USE `saltern-t-db`; CREATE TABLE t (a INT, b INT, `c, d` INT); CREATE PROCEDURE p() SELECT 1")
    user = {"user": "saltern-t-g"}
    bench.change("present", "it", grant="select (a, `c, d`), delete", database="saltern-t-db.t", **user)
    bench.change("present", "it", grant="select (b)", database="saltern-t-db.t", **user)
    assert grants(server) == ["GRANT SELECT (`a`, `b`, `c, d`), DELETE ON `saltern-t-db`.`t`"]
    bench.change("absent", "it", grant="select (a)", database="`saltern-t-db`.`t`", **user)
    bench.change("absent", "it", grant="all", database="saltern-t-db.t", **user)
    bench.change("present", "it", grant="execute", database="procedure saltern-t-db.p", **user)
    bench.change("absent", "it", grant="execute", database="PROCEDURE saltern-t-db.p", **user)
    bench.change("present", "it", grant="replication client, super, read only admin", database="*.*", **user)
    assert "BINLOG MONITOR" in server.sql(f"SHOW GRANTS FOR {WHO}")
    bench.change("present", "it", grant="all", database="*.*", **user)
    bench.change("absent", "it", grant="all", database="*.*", **user)
    bench.same("present", "it", grant="usage", database="*.*", **user)
    assert grants(server) == []


def test_signs_of_a_pattern_are_plain_unless_escape_is_off(bench: Bench, server: Server) -> None:
    it = {"grant": "select", "user": "saltern-t-g"}
    bench.change("present", "it", database="saltern_t%.*", **it)
    assert grants(server) == ["GRANT SELECT ON `saltern\\_t\\%`.*"]
    bench.change("absent", "it", database="saltern_t%.*", **it)
    bench.change("present", "it", database="saltern_t%.*", escape=False, **it)
    assert grants(server) == ["GRANT SELECT ON `saltern_t%`.*"]
    bench.same("present", "it", database="saltern_t%.*", **it)  # written by hand, and meant so
    bench.change("absent", "it", database="saltern_t%.*", **it)


@pytest.mark.parametrize("name", AWKWARD)
def test_any_name_is_a_name_and_nothing_else(bench: Bench, server: Server, name: str) -> None:
    server.sql(
        f"CREATE USER {text(name)}@'localhost'; CREATE DATABASE {quoted(name)}; "
        f"CREATE TABLE {quoted(name)}.{quoted(name[-10:])} ({quoted(name)} INT)"
    )
    tick = name.replace("`", "``")
    try:
        bench.change("present", "it", grant="select", database=f"{name}.*", user=name)
        bench.change("absent", "it", grant="select", database=f"{name}.*", user=name)
        table = f"{quoted(name)}.{quoted(name[-10:])}"
        bench.change("present", "it", grant=f"insert (`{tick}`), delete", database=table, user=name)
        bench.change("absent", "it", grant=f"insert (`{tick}`), delete", database=table, user=name)
    finally:
        server.sql(f"DROP USER {text(name)}@'localhost'; DROP DATABASE {quoted(name)}")


def test_what_a_connection_needs(bench: Bench, server: Server) -> None:
    bench.change("present", "it", grant="select", ssl_option=[{"SSL": True}], **SELECT)
    assert "REQUIRE SSL" in server.sql(f"SHOW CREATE USER {WHO}")
    needs = [{"SUBJECT": "/CN=o'brien"}, {"CIPHER": "AES"}]
    bench.change("present", "it", grant="select", ssl_option=needs, **SELECT)
    assert "SUBJECT '/CN=o''brien' CIPHER 'AES'" in server.sql(f"SHOW CREATE USER {WHO}")
    assert "ssl_option cannot have 'TLS'" in bench.refusal(
        "present", "it", grant="select", ssl_option=[{"tls": 1}], **SELECT
    )


def test_a_user_who_is_not_there_is_foretold_and_then_a_failure(bench: Bench) -> None:
    it: dict[str, Any] = {"grant": "select", "database": "saltern-t-db.*", "user": "saltern-t-nobody"}
    assert bench.call("present", "it", test=True, **it).outcome is Outcome.WOULD_CHANGE
    assert "there is no user saltern-t-nobody@localhost" in bench.refusal("present", "it", **it)
    bench.same("absent", "it", **it)


def test_what_cannot_be_is_refused_in_words(bench: Bench) -> None:
    user: dict[str, Any] = {"user": "saltern-t-g"}
    assert "did you mean 'SELECT'" in bench.refusal("present", "it", grant="selekt", database="a.*", **user)
    assert "grant cannot be" in bench.refusal("present", "it", grant="select; drop", database="a.*", **user)
    assert "use db.table" in bench.refusal("present", "it", grant="select", database="shop", **user)
    assert "grant is empty" in bench.refusal("present", "it", grant="", database="a.*", **user)
    assert "'database' is missing" in bench.call("present", "it", grant="select", **user).comment
