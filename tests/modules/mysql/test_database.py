"""``mysql_database``, on a real MariaDB server."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.mariadb_server import Server
from tests.modules.bench import Bench
from tests.modules.mysql.names import AWKWARD

from saltern.language.result import Outcome
from saltern.modules.functions import mysql
from saltern.modules.states import mysql_database

pytestmark = pytest.mark.machine


@pytest.fixture
def bench(tmp_path: Path, server: Server) -> Bench:
    return Bench(
        tmp_path, mysql_database, functions={"mysql": mysql}, opts={"mysql.unix_socket": server.socket}
    )


def test_a_database_is_made_once_and_dropped_once(bench: Bench, server: Server) -> None:
    done = bench.change("present", "saltern-t-one", character_set="utf8mb4", collate="utf8mb4_bin")
    assert done.changes == {"saltern-t-one": "Present"}
    assert done.data["collate"] == "utf8mb4_bin"
    assert "saltern-t-one" in server.sql("SHOW DATABASES")
    gone = bench.change("absent", "saltern-t-one")
    assert gone.changes == {"saltern-t-one": "Absent"}
    assert gone.data == {"name": "saltern-t-one", "exists": False}
    assert "saltern-t-one" not in server.sql("SHOW DATABASES")


def test_character_set_and_collation_are_changed_by_whatever_name_they_go(bench: Bench) -> None:
    bench.change("present", "saltern-t-set", character_set="latin1")
    done = bench.change("present", "saltern-t-set", character_set="utf8", collate="utf8_unicode_ci")
    assert done.changes == {
        "character_set": {"before": "latin1", "now": "utf8mb3"},
        "collate": {"before": "latin1_swedish_ci", "now": "utf8mb3_unicode_ci"},
    }
    bench.same("present", "saltern-t-set", collate="utf8mb3_unicode_ci")
    bench.change("absent", "saltern-t-set")


@pytest.mark.parametrize("name", AWKWARD)
def test_any_name_is_a_name_and_nothing_else(bench: Bench, server: Server, name: str) -> None:
    before = server.sql("SHOW DATABASES")
    bench.change("present", name)
    assert bench.salt["mysql.db_exists"](name) is True
    assert len(server.sql("SHOW DATABASES")) > len(before)
    bench.change("absent", name)
    assert server.sql("SHOW DATABASES") == before


def test_odd_sql_modes_of_the_server_change_no_quotes(bench: Bench, server: Server) -> None:
    usual = server.sql("SELECT @@GLOBAL.sql_mode").strip()
    server.sql("SET GLOBAL sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES'")
    try:
        bench.change("present", "saltern-t-\\'\"`")
        bench.change("absent", "saltern-t-\\'\"`")
    finally:
        server.sql(f"SET GLOBAL sql_mode = '{usual}'")


def test_what_cannot_be_is_refused_in_words(bench: Bench) -> None:
    assert "belongs to the server" in bench.refusal("absent", "MySQL")
    assert "cannot be the name of a database" in bench.refusal("present", "x" * 65)
    assert "MySQL Error 1115: Unknown character set: 'klingon'" in bench.refusal(
        "present", "x", character_set="klingon"
    )
    assert "use a name such as" in bench.refusal("present", "x", collate="a; DROP")
    wrong = bench.refusal("present", "x", character_set="utf8mb4", collate="latin1_bin")
    assert "MySQL Error 1253" in wrong
    assert "needs a number" in bench.call("present", "x", connection_port="a").comment
    missing = bench.refusal("present", "x", connection_default_file="/no/such.cnf")
    assert "there is no file '/no/such.cnf'" in missing
    assert "must begin with" in bench.refusal("present", "x", connection_default_group="other")


def test_a_server_that_is_not_there_yet_is_foretold_and_then_a_failure(bench: Bench) -> None:
    nowhere = "/nowhere/saltern-t.sock"
    foretold = bench.call("present", "x", test=True, connection_unix_socket=nowhere)
    assert (foretold.outcome, foretold.changes) == (Outcome.WOULD_CHANGE, {"x": "Present"})
    assert "MySQL Error 2002" in foretold.warnings[0]
    assert "MySQL Error 2002" in bench.refusal("present", "x", connection_unix_socket=nowhere)
