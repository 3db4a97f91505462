"""``postgres_privileges`` on a real server."""

from __future__ import annotations

import pytest
from tests.modules.bench import Bench
from tests.modules.postgres.conftest import MakeBench
from tests.modules.postgres.test_roles import ODD_NAMES
from tests.postgres_server import Server

from saltern.language.result import Outcome

pytestmark = pytest.mark.machine

DB = "rights"
THINGS = """
    CREATE SCHEMA other; CREATE SCHEMA empty;
    CREATE TABLE t (a int); CREATE TABLE other.t (a int); CREATE VIEW other.v AS SELECT 1;
    CREATE SEQUENCE s;
    CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
    CREATE FUNCTION twice(text) RETURNS int LANGUAGE sql AS 'SELECT 1';
    CREATE PROCEDURE other.step() LANGUAGE sql AS 'SELECT 1';
    REVOKE ALL ON FUNCTION twice(int), twice(text) FROM public;
    REVOKE ALL ON PROCEDURE other.step() FROM public;
"""


@pytest.fixture(scope="session")
def things(server: Server) -> str:
    """A database with one of everything."""
    server.psql(f"CREATE DATABASE {DB}; CREATE ROLE staff")
    server.psql(THINGS, db=DB)
    return DB


@pytest.fixture
def rights(bench_of: MakeBench, things: str) -> Bench:
    return bench_of("postgres_privileges")


@pytest.fixture
def reader(server: Server, request: pytest.FixtureRequest) -> str:
    """A role that nobody else has given anything."""
    name = request.node.name[-60:]
    server.psql(f'CREATE ROLE "{name}"')
    return str(name)


@pytest.mark.parametrize(
    ("kind", "name", "privileges", "more"),
    [
        ("table", "t", ["SELECT", "INSERT"], {}),
        ("TABLE", "v", ["select"], {"prepend": "other"}),
        ("table", "ALL", ["ALL"], {"prepend": "other"}),
        ("sequence", "s", ["USAGE"], {}),
        ("function", "twice(integer)", ["EXECUTE"], {}),
        ("function", "public.twice(text)", ["ALL"], {}),
        ("function", "twice", ["EXECUTE"], {}),
        ("function", "step", ["EXECUTE"], {"prepend": "other"}),
        ("schema", "other", ["USAGE", "CREATE"], {}),
        ("database", DB, ["TEMP", "CONNECT"], {}),
        ("tablespace", "pg_default", ["CREATE"], {}),
        ("language", "sql", "ALL", {}),
    ],
)
def test_privileges_come_and_go(
    rights: Bench, reader: str, kind: str, name: str, privileges: object, more: dict[str, object]
) -> None:
    args = {"object_name": name, "object_type": kind, "privileges": privileges, "maintenance_db": DB, **more}
    done = rights.change("present", reader, **args)
    assert done.changes == {reader: "Present"} and done.data["privileges"]
    assert rights.salt["postgres.has_privileges"](reader, name, kind, privileges, maintenance_db=DB, **more)
    rights.change("present", reader, grant_option=True, **args)
    gone = rights.change("absent", reader, **args)
    assert gone.changes == {reader: "Absent"} and gone.data["privileges"] == []


def test_membership_is_a_privilege_too(rights: Bench, reader: str) -> None:
    args = {"object_name": "staff", "object_type": "group"}
    done = rights.change("present", reader, **args)
    assert done.data["member"] is True
    assert rights.salt["postgres.privileges_list"]("staff", "group") == {reader: False}
    rights.change("present", reader, grant_option=True, **args)
    assert rights.salt["postgres.privileges_list"]("staff", "group") == {reader: True}
    rights.change("absent", reader, **args)


def test_only_what_is_asked_for_is_taken(rights: Bench, reader: str, server: Server) -> None:
    server.psql(f'GRANT SELECT, INSERT, UPDATE ON t TO "{reader}"', db=DB)
    args = {"object_name": "t", "object_type": "table", "maintenance_db": DB}
    done = rights.change("absent", reader, privileges="INSERT, DELETE", **args)
    assert done.data["privileges"] == ["SELECT", "UPDATE"]
    rights.same("absent", reader, privileges=["DELETE"], **args)
    rights.change("present", reader, privileges=["ALL"], **args)


def test_everybody_and_the_owner_are_roles_as_well(rights: Bench) -> None:
    args = {"object_name": DB, "object_type": "database", "maintenance_db": DB}
    rights.same("present", "public", privileges=["CONNECT"], **args)
    rights.change("absent", "public", privileges=["CONNECT", "TEMPORARY"], **args)
    rights.change("present", "public", privileges=["CONNECT"], **args)
    rights.same("present", "postgres", privileges=["ALL"], grant_option=True, **args)


def test_an_empty_schema_has_nothing_to_grant(rights: Bench, reader: str) -> None:
    args = {"object_name": "ALL", "object_type": "table", "privileges": ["ALL"], "maintenance_db": DB}
    rights.same("present", reader, prepend="empty", **args)
    assert "no such schema" in rights.refusal("present", reader, prepend="nowhere", **args)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_just_names(rights: Bench, server: Server, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    server.psql(f"CREATE SCHEMA {quoted}; CREATE TABLE {quoted}.{quoted} (); CREATE ROLE {quoted}", db=DB)
    args = {"object_name": name, "object_type": "table", "prepend": name, "maintenance_db": DB}
    rights.change("present", name, privileges=["SELECT"], **args)
    rights.change("absent", name, privileges=["SELECT"], **args)
    assert rights.salt["postgres.user_remove"](name) is True


def test_what_cannot_be_is_refused_in_words(rights: Bench, reader: str) -> None:
    def refusal(kind: str, name: str, *privileges: str, role: str = reader) -> str:
        return rights.refusal(
            "present",
            role,
            object_name=name,
            object_type=kind,
            privileges=list(privileges),
            maintenance_db=DB,
        )

    assert "object_type cannot be 'tabel'; it must be one of table" in refusal("tabel", "t", "SELECT")
    assert "no privilege on a table is called 'USAGE'" in refusal("table", "t", "USAGE")
    assert "no privilege on a table is called 'SELECT ON T" in refusal("table", "t", "SELECT ON t TO x; --")
    assert "privileges is missing" in refusal("schema", "other")
    assert "a role is a member or is not" in refusal("group", "staff", "ALL")
    assert (
        refusal("table", "gone", "ALL") == "there is no table 'gone' in schema 'public' of database 'rights'"
    )
    assert "there is no function 'gone(int)'" in refusal("function", "gone(int)", "ALL")
    assert 'role "nobody" does not exist' in refusal("table", "t", "ALL", role="nobody")
    assert "PostgreSQL: " in refusal("function", "twice(((", "ALL")


def test_on_what_is_to_come_they_are_foretold(rights: Bench, reader: str) -> None:
    args = {"object_name": "to come", "object_type": "table", "privileges": ["ALL"], "maintenance_db": DB}
    foreseen = rights.call("present", reader, test=True, **args)
    assert (foreseen.outcome, foreseen.changes) == (Outcome.WOULD_CHANGE, {reader: "Present"})
    assert "there is no table 'to come'" in foreseen.warnings[0]
