"""The execution functions of ``mysql``, on a real MariaDB server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.mariadb_server import Server
from tests.modules.bench import Bench

from saltern.modules.api.refused import Refused
from saltern.modules.functions import mysql
from saltern.modules.lib.databases.mysql.accounts import native_hash
from saltern.modules.states import mysql_user

pytestmark = pytest.mark.machine
Call = Callable[..., Any]


@pytest.fixture
def call(tmp_path: Path, server: Server) -> Call:
    bench = Bench(tmp_path, mysql_user, functions={"mysql": mysql}, opts={"mysql.unix_socket": server.socket})
    return lambda name, *args, **kwargs: bench.salt[f"mysql.{name}"](*args, **kwargs)


def test_queries_give_rows_or_counts(call: Call, tmp_path: Path) -> None:
    found = call("query", "mysql", "SELECT 1 AS a, NULL AS b UNION SELECT 2, 'x'")
    assert (found["rows returned"], found["columns"]) == (2, ["a", "b"])
    assert found["results"] == [["1", None], ["2", "x"]]
    assert found["query time"].keys() == {"human", "raw"}
    assert call("query", "", "CREATE DATABASE `saltern-t-f`")["rows affected"] == 1
    file = tmp_path / "some.sql"
    file.write_text("CREATE TABLE t (a INT);\nINSERT INTO t VALUES (1), (2);\nUPDATE t SET a = 3")
    assert call("file_query", "saltern-t-f", str(file))["rows affected"] == 4
    assert call("query", "saltern-t-f", "SELECT * FROM t WHERE a = 0")["results"] == []
    assert call("quote_identifier", "a`b_%") == "`a``b_%`"
    assert call("quote_identifier", "a`b_%", for_grants=True) == "`a``b\\_\\%`"
    assert call("db_remove", "saltern-t-f") is True


def test_databases_come_and_go(call: Call) -> None:
    assert call("db_create", "saltern-t-f", "utf8mb4", "utf8mb4_bin") is True
    assert call("db_create", "saltern-t-f") is False
    assert call("db_get", "saltern-t-f") == {"character_set": "utf8mb4", "collate": "utf8mb4_bin"}
    assert call("alter_db", "saltern-t-f", character_set="latin1") is True
    assert call("db_get", "saltern-t-f")["character_set"] == "latin1"
    assert "saltern-t-f" in call("db_list") and call("db_exists", "saltern-t-f") is True
    assert call("db_tables", "saltern-t-f") == []
    assert "user" in call("db_tables", "mysql")
    assert [row["Msg_text"] for row in call("db_check", "mysql", "plugin")] == ["OK"]
    assert len(call("db_check", "mysql")) > 20
    assert call("db_repair", "saltern-t-f") == [] and call("db_optimize", "mysql", "plugin")
    assert call("db_remove", "saltern-t-f") is True
    assert call("db_remove", "saltern-t-f") is False and call("db_remove", "mysql") is False
    assert call("alter_db", "saltern-t-f") is False and call("db_get", "saltern-t-f") == {}


def test_accounts_come_and_go(call: Call) -> None:
    who = ("saltern-t-f", "localhost")
    assert call("user_create", *who, password="one") is True
    assert call("user_create", *who, password="one") is False
    assert call("user_exists", *who) is True and call("user_exists", "saltern-t-none") is False
    assert (
        call("user_exists", *who, password="one") is True
        and call("user_exists", *who, password="two") is False
    )
    assert call("user_chpass", *who, password_hash=native_hash("two")) is True
    assert call("user_exists", *who, password_hash=native_hash("two")) is True
    assert call("verify_login", "saltern-t-f", "two") is True
    assert call("verify_login", "saltern-t-f", "one") is False
    assert {"User": "saltern-t-f", "Host": "localhost"} in call("user_list")
    assert call("user_info", *who)["authentication_string"] == native_hash("two")
    assert (
        call("user_info", "saltern-t-none") is False
        and call("user_chpass", "saltern-t-none", password="x") is False
    )
    assert call("user_remove", *who) is True and call("user_remove", *who) is False
    with pytest.raises(Refused, match="give a password"):
        call("user_create", *who)


def test_grants_come_and_go_and_show_no_hash(call: Call) -> None:
    who = ("saltern-t-f", "localhost")
    call("user_create", *who, password="one")
    assert call("grant_exists", "select", "mysql.*", *who) is False
    assert call("grant_add", "select,insert", "mysql.*", *who, grant_option=True) is True
    assert call("grant_exists", "SELECT", "mysql.*", *who, grant_option=True) is True
    assert call("user_grants", *who) == [
        "GRANT USAGE ON *.* TO `saltern-t-f`@`localhost`",
        "GRANT SELECT, INSERT ON `mysql`.* TO `saltern-t-f`@`localhost` WITH GRANT OPTION",
    ]
    assert call("tokenize_grant", call("user_grants", *who)[1]) == {
        "user": "saltern-t-f",
        "host": "localhost",
        "grant": ["INSERT", "SELECT"],
        "database": "`mysql`.*",
    }
    assert call("grant_revoke", "select, update", "mysql.*", *who, grant_option=True) is True
    assert call("grant_exists", "select", "mysql.*", *who) is False
    assert call("user_grants", "saltern-t-none") is False
    call("user_remove", *who)
    with pytest.raises(Refused, match="there is no user"):
        call("grant_add", "select", "mysql.*", *who)


def test_the_server_tells_of_itself(call: Call) -> None:
    assert "MariaDB" in call("version")
    assert int(call("status")["Uptime"]) >= 0
    assert call("showvariables")["version"] == call("showglobal")["version"] == call("version")
    assert any(row["Info"] == "SHOW FULL PROCESSLIST" for row in call("processlist"))
    assert call("get_slave_status") == {} and call("slave_lag") == -1 and call("get_master_status") == {}
    assert call("slave_lag", connection_unix_socket="/nowhere") == -3
    assert call("plugin_status", "unix_socket") == "ACTIVE" and call("plugin_status", "none") == ""
    assert {"name": "unix_socket", "status": "ACTIVE"} in call("plugins_list")


def test_plugins_are_loaded_and_unloaded(call: Call) -> None:
    assert call("plugin_add", "ed25519", "auth_ed25519.so") is True
    assert call("plugin_add", "ed25519") is True
    assert call("plugin_remove", "ed25519") is True and call("plugin_remove", "ed25519") is True


def test_a_misspelt_connection_argument_is_reported(call: Call) -> None:
    with pytest.raises(Refused, match="did you mean 'connection_user'"):
        call("version", connection_usr="x")
