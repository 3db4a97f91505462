"""The execution module ``postgres`` on a real server, and what goes between it and psql."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.modules.bench import Bench, ScriptedHost
from tests.modules.postgres.conftest import MakeBench
from tests.postgres_server import Server

from saltern.modules.api.refused import Refused
from saltern.modules.functions import postgres as functions
from saltern.modules.lib.databases.postgres import client, passwords
from saltern.modules.states import postgres_user
from saltern.system.process import Ran

Call = Callable[..., Any]


@pytest.fixture
def call(bench_of: MakeBench) -> Call:
    """``call("db_list", …)``: as a template calls ``salt['postgres.db_list'](…)``."""
    salt = bench_of("postgres_user").salt
    return lambda name, *args, **kwargs: salt[f"postgres.{name}"](*args, **kwargs)


pytestmark = pytest.mark.machine


def test_the_server_tells_its_version_and_answers_queries(call: Call, server: Server) -> None:
    assert call("version").startswith(server.psql("SHOW server_version").split()[0])
    assert call("psql_query", "SELECT 1 AS a, NULL AS b, E'x\\ny,\"z\"' AS c") == [
        {"a": "1", "b": "", "c": 'x\ny,"z"'}
    ]
    assert call("psql_query", "SELECT 1 AS a WHERE false") == []
    with pytest.raises(Refused, match="read-only transaction"):
        call("psql_query", "CREATE TABLE by_query (a int)")
    assert call("psql_query", "CREATE TABLE by_query (a int)", write=True) == []
    assert call("psql_query", "INSERT INTO by_query VALUES (1) RETURNING a", write=True) == [{"a": "1"}]


def test_psqls_own_commands_mean_nothing_in_a_query(call: Call, tmp_path: Path) -> None:
    mark = tmp_path / "shell"
    for text in (f"\\! touch {mark}", f"SELECT 1\n\\! touch {mark}\n", f"SELECT 1 \\g |touch {mark}"):
        with pytest.raises(Refused, match="syntax error"):
            call("psql_query", text)
    assert call("psql_query", "SELECT ':query' AS a") == [{"a": ":query"}]
    assert not mark.exists()


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1))
def test_every_text_reaches_the_server_as_it_is(users: Bench, texts: list[str]) -> None:
    ctx = users.context()
    values = {f"v{number}": text for number, text in enumerate(texts)}
    columns = ", ".join(f":'{name}' AS {name}" for name in values)
    names = ", ".join(f'1 AS :"{name}"' for name in values if 0 < len(values[name].encode()) < 64)
    found = client.rows(ctx, client.login(ctx), f"SELECT {columns}", values)
    assert found == [values]
    if names:
        client.rows(ctx, client.login(ctx), f"SELECT to_json(x) FROM (SELECT {names}) x", values)


def test_users_and_groups(call: Call, server: Server) -> None:
    assert call("group_create", "fg") is True
    assert call("group_create", "fg") is False
    assert call("user_create", "fu", createdb=True, rolepassword="x1", connlimit=3, groups="fg") is True
    assert call("user_create", "fu") is False
    assert server.lets_in("fu", "x1")
    found = call("role_get", "fu")
    assert found == {
        "superuser": False,
        "inherits privileges": True,
        "can create roles": False,
        "can create databases": True,
        "can update system catalogs": None,
        "can login": True,
        "replication": False,
        "connections": 3,
        "expiry time": None,
        "defaults variables": "",
        "groups": ["fg"],
    }
    assert call("user_update", "fu", createdb=False, rolepassword="x2", encrypted="md5") is True
    assert call("user_update", "nobody") is False
    assert call("group_update", "fg", inherit=False) is True
    kept = call("user_list", return_password=True)["fu"]["password"]
    assert passwords.matches("fu", "x2", kept, "md5")
    assert "password" not in call("user_list")["fu"]
    assert call("user_exists", "fu") is True
    assert (call("user_remove", "fu"), call("user_remove", "fu")) == (True, False)
    assert (call("group_remove", "fg"), call("role_get", "fg")) == (True, None)


def test_databases_and_tablespaces(call: Call, server: Server) -> None:
    server.psql("CREATE ROLE fowner")
    assert call("db_create", "fdb", encoding="UTF8", template="template0") is True
    assert (call("db_create", "fdb"), call("db_exists", "fdb")) == (False, True)
    assert call("db_alter", "fdb", owner="fowner", owner_recurse=True) is True
    assert call("db_alter", "fdb") is False
    assert call("db_list")["fdb"] == {
        "Owner": "fowner",
        "Encoding": "UTF8",
        "Collate": "C.UTF-8",
        "Ctype": "C.UTF-8",
        "Access privileges": "",
        "Tablespace": "pg_default",
    }
    server.psql("CREATE TABLE t ()", db="fdb")
    assert call("owner_to", "fdb", "fowner") is True
    assert server.psql("SELECT tableowner FROM pg_tables WHERE tablename = 't'", db="fdb") == "fowner"
    assert (call("db_remove", "fdb"), call("db_exists", "fdb")) == (True, False)
    place = server.place / "fspace"
    place.mkdir()
    shutil.chown(place, "postgres")
    assert call("tablespace_create", "fspace", str(place), options={"seq_page_cost": 2}) is True
    assert call("tablespace_alter", "fspace", new_name="fs2", reset_option="seq_page_cost") is True
    assert call("tablespace_alter", "fs2", set_option={"random_page_cost": 9}, new_owner="fowner") is True
    assert call("tablespace_alter", "fs2") is False
    assert call("tablespace_list")["fs2"] == {
        "Owner": "fowner",
        "ACL": "",
        "Opts": "{random_page_cost=9}",
        "Location": str(place),
    }
    assert (call("tablespace_remove", "fs2"), call("tablespace_exists", "fs2")) == (True, False)


def test_schemas_languages_and_extensions(call: Call, server: Server) -> None:
    server.psql("CREATE DATABASE fin")
    assert (call("schema_create", "fin", "fs"), call("schema_create", "fin", "fs")) == (True, False)
    assert call("schema_get", "fin", "fs") == {"owner": "postgres", "acl": ""}
    assert "fs" in call("schema_list", "fin") and call("schema_exists", "fin", "fs")
    assert (call("schema_remove", "fin", "fs"), call("schema_remove", "fin", "fs")) == (True, False)
    assert call("language_list", "fin")["plpgsql"] == "plpgsql"
    assert (call("language_remove", "plpgsql", "fin"), call("language_remove", "plpgsql", "fin")) == (
        True,
        False,
    )
    assert (call("language_create", "plpgsql", "fin"), call("language_create", "plpgsql", "fin")) == (
        True,
        False,
    )
    assert call("language_exists", "plpgsql", "fin")
    here = {"maintenance_db": "fin"}
    assert call("create_metadata", "hstore", **here) == ["EXTENSION NOT INSTALLED"]
    assert call("create_extension", "hstore", ext_version="1.7", **here) is True
    assert call("create_extension", "hstore", **here) is False
    assert call("create_metadata", "hstore", ext_version="1.8", schema="x", **here) == [
        "EXTENSION INSTALLED",
        "EXTENSION TO UPGRADE",
        "EXTENSION TO MOVE",
    ]
    assert call("create_extension", "hstore", ext_version="1.8", **here) is True
    assert call("get_installed_extension", "hstore", **here)["extversion"] == "1.8"
    assert call("get_available_extension", "hstore", **here)["default_version"] == "1.8"
    assert "hstore" in call("installed_extensions", **here) and "hstore" in call("available_extensions")
    assert call("is_available_extension", "hstore") and call("is_installed_extension", "hstore", **here)
    assert call("drop_extension", "hstore", **here) and call("drop_extension", "hstore", **here)
    assert call("get_installed_extension", "hstore", **here) is None


def test_privileges(call: Call, server: Server) -> None:
    server.psql("CREATE ROLE fp; CREATE TABLE fpt (a int)")
    assert call("privileges_grant", "fp", "fpt", "table", "SELECT, INSERT", grant_option=True) is True
    assert call("privileges_grant", "fp", "fpt", "table", ["SELECT"]) is False
    assert call("privileges_list", "fpt", "table")["fp"] == {"SELECT": True, "INSERT": True}
    assert call("has_privileges", "fp", "fpt", "table", "SELECT", grant_option=True) is True
    assert call("has_privileges", "fp", "fpt", "table", "ALL") is False
    assert call("privileges_revoke", "fp", "fpt", "table", "ALL") is True
    assert call("privileges_revoke", "fp", "fpt", "table", "ALL") is False


class Watched(ScriptedHost):
    """Keeps what a command was given beside its arguments."""

    env: Mapping[str, str] = {}

    def run(self, command: Any, **options: Any) -> Ran:
        self.env = options["env"]
        return super().run(command, **options)


def test_secrets_are_on_no_command_line(tmp_path: Path) -> None:
    """psql's answer is recorded, from version 15; what is looked at is how it was called."""
    role = '[{"name":"u","superuser":false,"inherit":true,"createroles":false,"createdb":false,"login":true,'
    role += '"replication":false,"connlimit":-1,"valid_until":null,"valid_until_same":null,"password":null,'
    role += '"groups":[],"variables":null}]\n'
    host = Watched({"psql": Ran(0, role)})
    opts = {"postgres.bins_dir": "", "postgres.pass": "from-options", "postgres.host": "db.example.org"}
    bench = Bench(tmp_path, postgres_user, functions={"postgres": functions}, host=host, opts=opts)
    bench.call("present", "u", password="of-the-role", db_password="to-connect", test=True)
    assert host.env["PGPASSWORD"] == "to-connect" and host.env["PGHOST"] == "db.example.org"
    bench.call("present", "u", test=True)
    assert host.env["PGPASSWORD"] == "from-options"
    assert not any(word in line for line in host.asked for word in ("of-the-role", "to-connect", "options"))


def test_a_server_that_does_not_answer_is_given_up(users: Bench) -> None:
    users.run.opts["postgres.timeout"] = 0.3
    who = client.login(users.context())
    with pytest.raises(Refused, match=r"did not respond within the time of the option postgres.timeout"):
        client.query(users.context(), who, "SELECT pg_sleep(20)")
    users.run.opts["postgres.timeout"] = "soon"
    with pytest.raises(Refused, match="needs a number of seconds, got 'soon'"):
        client.query(users.context(), who, "SELECT 1")


def test_a_machine_without_psql_says_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path, postgres_user, host=ScriptedHost({}))
    assert "'psql' is not on this machine" in bench.refusal("present", "u")


def test_echoes_of_a_statement_are_not_told() -> None:
    """The text is psql 15's for a statement that the server cannot read."""
    err = "psql:<stdin>:3: ERROR:  syntax error at or near \"x\"\nLINE 1: ... PASSWORD 'hush' x\n         ^\n"
    assert client.error_text(err, ()) == 'syntax error at or near "x"'
    assert client.error_text("ERROR:  bad value hush\nDETAIL:  it is hush\n", ["hush"]) == (
        "bad value XXX-REDACTED-XXX; it is XXX-REDACTED-XXX"
    )


@pytest.mark.parametrize(
    ("password", "made"),
    [("I\u00adX", "IX"), ("\u00aa", "a"), ("Ⅸ", "IX"), ("a\u00a0b", "a b"), ("\u0627\u0031", "\u0627\u0031")],
)
def test_passwords_are_prepared_as_rfc_4013_says(password: str, made: str) -> None:
    """The first three are the RFC's own examples; the last is one that it forbids, which stays as it is."""
    assert passwords.prepare(password) == made


def test_a_verifier_matches_its_password_only() -> None:
    for form in ("md5", "scram-sha-256"):
        kept = passwords.verifier("me", "right", form)
        assert passwords.matches("me", "right", kept) and passwords.matches("me", "right", kept, form)
        assert not passwords.matches("me", "wrong", kept)
        assert passwords.verifier("me", kept, "md5") == kept
    assert not passwords.matches("me", "x", "SCRAM-SHA-256$4096:A$B:C")
    assert not passwords.matches("me", "x", "")
