"""``postgres_database``, ``postgres_tablespace``, ``postgres_schema`` … on a real server."""

from __future__ import annotations

import shutil

import pytest
from tests.modules.bench import Bench
from tests.modules.postgres.conftest import MakeBench
from tests.modules.postgres.test_roles import ODD_NAMES
from tests.postgres_server import Server

from saltern.language.result import Outcome

pytestmark = pytest.mark.machine


@pytest.fixture
def db(server: Server, request: pytest.FixtureRequest) -> str:
    """A database for one test."""
    name = request.node.name[-50:]
    server.psql(f'CREATE DATABASE "{name}"')
    return str(name)


def test_a_database_is_made_and_changes_hands(databases: Bench, server: Server) -> None:
    server.psql("CREATE ROLE first; CREATE ROLE second")
    parts = {"encoding": "utf-8", "lc_collate": "C", "lc_ctype": "C.UTF-8", "template": "template0"}
    done = databases.change("present", "shop", owner="first", **parts)
    assert done.changes == {"shop": "Present"}
    assert done.data == {
        "name": "shop",
        "exists": True,
        "owner": "first",
        "encoding": "UTF8",
        "lc_collate": "C",
        "lc_ctype": "C.UTF-8",
        "tablespace": "pg_default",
    }
    databases.same("present", "shop", encoding="UNICODE", lc_ctype="C.utf8")
    moved = databases.change("present", "shop", owner="second")
    assert moved.changes == {"shop": "Parameters changed"} and moved.data["owner"] == "second"
    assert databases.change("absent", "shop").changes == {"shop": "Absent"}


def test_everything_in_a_database_changes_hands(databases: Bench, server: Server, db: str) -> None:
    server.psql(
        """
        CREATE ROLE "new owner";
        CREATE SCHEMA "in;side";
        CREATE TABLE "in;side"."t'1" (id serial PRIMARY KEY, n int GENERATED ALWAYS AS IDENTITY);
        CREATE TABLE parted (a int) PARTITION BY LIST (a);
        CREATE TABLE part1 PARTITION OF parted FOR VALUES IN (1);
        CREATE VIEW v AS SELECT 1; CREATE MATERIALIZED VIEW m AS SELECT 1; CREATE SEQUENCE lone;
        CREATE TYPE mood AS ENUM ('good'); CREATE DOMAIN few AS int[]; CREATE TYPE pair AS (a int);
        CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
        CREATE PROCEDURE p() LANGUAGE sql AS 'SELECT 1';
        CREATE AGGREGATE total (int) (sfunc = int4pl, stype = int);
        CREATE EXTENSION hstore;
        """,
        db=db,
    )
    done = databases.change("present", db, owner="new owner", owner_recurse=True)
    assert done.changes == {db: "Parameters changed"}
    owners = """
        SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relname IN
            ('t''1', 't''1_id_seq', 'parted', 'part1', 'v', 'm', 'lone', 'pair')
        UNION SELECT pg_get_userbyid(typowner) FROM pg_type WHERE typname IN ('mood', 'few', 'pair')
        UNION SELECT pg_get_userbyid(proowner) FROM pg_proc WHERE proname IN ('f', 'p', 'total')
        UNION SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'in;side'"""
    assert server.psql(owners, db=db) == "new owner"
    server.psql("CREATE TABLE later ()", db=db)
    databases.same("present", db, owner="new owner")
    databases.change("present", db, owner="new owner", owner_recurse=True)


def test_what_is_fixed_for_a_database_is_not_changed(databases: Bench) -> None:
    refusal = databases.refusal("present", "postgres", encoding="LATIN1")
    assert "has the encoding UTF8, not LATIN1, which cannot be changed" in refusal
    assert "has the lc_collate" in databases.refusal("present", "postgres", lc_collate="de_DE.UTF-8")
    assert 'role "nope" does not exist' in databases.refusal("present", "d", owner="nope")
    assert 'template database "nope" does not exist' in databases.refusal("present", "d", template="nope")
    assert "cannot drop the currently open database" in databases.refusal("absent", "postgres")


@pytest.mark.parametrize("name", [*ODD_NAMES, "host=elsewhere user=x"])
def test_odd_databases_and_schemas(databases: Bench, bench_of: MakeBench, name: str) -> None:
    databases.change("present", name)
    schemas = bench_of("postgres_schema")
    schemas.change("present", name, dbname=name)
    assert databases.salt["postgres.schema_exists"](name, name) is True
    schemas.change("absent", name, dbname=name)
    databases.change("absent", name)


def test_a_tablespace_has_a_place_an_owner_and_options(bench_of: MakeBench, server: Server) -> None:
    spaces = bench_of("postgres_tablespace")
    place = server.place / "fast; disk"
    place.mkdir()
    shutil.chown(place, "postgres", "postgres")
    server.psql("CREATE ROLE keeper")
    options = {"seq_page_cost": 1.5, "random_page_cost": 2}
    done = spaces.change("present", "fast space", directory=f"{place}/", options=options)
    assert done.changes == {"fast space": "Present"}
    assert done.data["directory"] == str(place)
    changed = {"seq_page_cost": "1.50", "random_page_cost": 3}
    done = spaces.change("present", "fast space", directory=str(place), owner="keeper", options=changed)
    assert done.changes == {"fast space": {"owner": "keeper", "options": {"random_page_cost": "3"}}}
    databases = bench_of("postgres_database")
    databases.change("present", "moving")
    assert databases.change("present", "moving", tablespace="fast space").data["tablespace"] == "fast space"
    assert 'tablespace "fast space" is not empty' in spaces.refusal("absent", "fast space")
    databases.change("absent", "moving")
    refusal = spaces.refusal("present", "fast space", directory="/elsewhere")
    assert f"is in {place}, not in /elsewhere" in refusal
    assert "unrecognized parameter" in spaces.refusal(
        "present", "fast space", directory=str(place), options={"speed": 1}
    )
    spaces.change("absent", "fast space")
    assert "must be an absolute path" in spaces.refusal("present", "x", directory="here")
    assert "does not exist" in spaces.refusal("present", "x", directory="/nowhere/at/all")
    assert "cannot contain single quotes" in spaces.refusal("present", "x", directory="/it's here")


def test_a_schema_gets_an_owner(bench_of: MakeBench, server: Server, db: str) -> None:
    schemas = bench_of("postgres_schema")
    server.psql("CREATE ROLE planner")
    assert schemas.change("present", "plans", dbname=db).changes == {"plans": "Present"}
    done = schemas.change("present", "plans", dbname=db, owner="planner")
    assert done.changes == {"plans": {"owner": "planner"}}
    assert done.data == {"name": "plans", "dbname": db, "exists": True, "owner": "planner"}
    server.psql("CREATE TABLE plans.t ()", db=db)
    assert "other objects depend on it" in schemas.refusal("absent", "plans", dbname=db)


def test_in_a_database_to_come_things_are_foretold(bench_of: MakeBench) -> None:
    schemas = bench_of("postgres_schema")
    assert 'database "to come" does not exist' in schemas.refusal("present", "s", dbname="to come")
    foreseen = schemas.call("present", "s", dbname="to come", test=True)
    assert (foreseen.outcome, foreseen.changes) == (Outcome.WOULD_CHANGE, {"s": "Present"})
    schemas.same("absent", "s", dbname="to come")
    bench_of("postgres_extension").same("absent", "hstore", maintenance_db="to come")
    bench_of("postgres_language").same("absent", "plperl", maintenance_db="to come")


def test_an_extension_is_installed_upgraded_and_moved(bench_of: MakeBench, server: Server, db: str) -> None:
    extensions = bench_of("postgres_extension")
    server.psql('CREATE SCHEMA "ext;ra"', db=db)
    done = extensions.change("present", "hstore", ext_version="1.7", maintenance_db=db)
    assert done.changes == {"hstore": "Installed"} and done.data["version"] == "1.7"
    extensions.same("present", "hstore", maintenance_db=db, if_not_exists=True)
    done = extensions.change("present", "hstore", ext_version="1.8", schema="ext;ra", maintenance_db=db)
    assert done.changes == {"hstore": "Upgraded"}
    assert (done.data["version"], done.data["schema"]) == ("1.8", "ext;ra")
    server.psql('CREATE TABLE t (h "ext;ra".hstore)', db=db)
    assert "depend on it" in extensions.refusal("absent", "hstore", maintenance_db=db)
    assert "cannot be combined" in extensions.refusal(
        "absent", "hstore", maintenance_db=db, cascade=True, restrict=True
    )
    assert extensions.change("absent", "hstore", cascade=True, maintenance_db=db).changes == {
        "hstore": "Absent"
    }
    assert 'extension "no such" is not available' in extensions.refusal("present", "no such")
    assert extensions.call("present", "plpgsql", from_version="unpackaged").warnings


def test_a_language_is_removed_and_comes_back(bench_of: MakeBench, db: str) -> None:
    languages = bench_of("postgres_language")
    languages.same("present", "plpgsql", maintenance_db=db)
    assert languages.change("absent", "plpgsql", maintenance_db=db).changes == {"plpgsql": "Absent"}
    done = languages.change("present", "plpgsql", maintenance_db=db)
    assert done.changes == {"plpgsql": "Present"}
    assert done.data == {
        "name": "plpgsql",
        "maintenance_db": db,
        "exists": True,
        "owner": "postgres",
        "trusted": True,
    }
    assert "not available" in languages.refusal("present", "cobol", maintenance_db=db)
