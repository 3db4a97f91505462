"""``postgres_user`` and ``postgres_group`` on a real server."""

from __future__ import annotations

from typing import Any

import pytest
from tests.modules.bench import Bench
from tests.modules.postgres.conftest import MakeBench
from tests.postgres_server import Server

from saltern.language.result import Outcome
from saltern.modules.lib.databases.postgres.passwords import verifier

pytestmark = pytest.mark.machine

ODD_NAMES = (
    'semi; DROP ROLE postgres; -- it\'s "quoted"',
    ":name :'name' :\"name\" back\\slash `id`",
    "ünï ☃\ntwo lines $1 $$ %I %s {}",
    "\\! touch /tmp/saltern-t-shell",
)


def test_a_user_is_made_as_described(users: Bench, server: Server) -> None:
    server.psql("CREATE ROLE crew")
    done = users.change(
        "present", "maker", createdb=True, password="s3cret one", groups="crew", valid_until="2031-02-03"
    )
    assert done.changes == {"maker": "Present"}
    assert done.data == {
        "name": "maker",
        "exists": True,
        "superuser": False,
        "createdb": True,
        "createroles": False,
        "inherit": True,
        "login": True,
        "replication": False,
        "connlimit": -1,
        "valid_until": done.data["valid_until"],
        "has_password": True,
        "groups": ["crew"],
    }
    assert str(done.data["valid_until"]).startswith("2031-02-03T00:00:00")
    assert server.lets_in("maker", "s3cret one")
    assert not server.lets_in("maker", "s3cret two")


def test_only_what_differs_is_changed(users: Bench, server: Server) -> None:
    server.psql("CREATE ROLE a; CREATE ROLE b; CREATE ROLE changing LOGIN CREATEDB IN ROLE a")
    done = users.change(
        "present",
        "changing",
        createdb=True,
        createroles=True,
        inherit=False,
        login=False,
        superuser=True,
        replication=True,
        groups=["a", "b"],
        valid_until="infinity",
        password="new",
    )
    assert done.changes == {
        "changing": {
            "superuser": True,
            "createroles": True,
            "inherit": False,
            "login": False,
            "replication": True,
            "password": True,
            "valid_until": "infinity",
            "groups": ["b"],
        }
    }
    assert users.change("present", "changing", superuser=False).changes == {"changing": {"superuser": False}}
    users.same("present", "changing", groups=["b"], password="new")


@pytest.mark.parametrize("form", ["md5", "scram-sha-256"])
def test_a_password_is_kept_in_the_form_asked_for_and_known_again(
    users: Bench, server: Server, form: str
) -> None:
    name = f"of {form}"
    users.change("present", name, password="pass wörd", encrypted=form)
    kept = server.psql(f"SELECT rolpassword FROM pg_authid WHERE rolname = '{name}'")
    assert kept.lower().startswith(form)
    assert server.lets_in(name, "pass wörd")
    users.same("present", name, password="pass wörd")
    users.same("present", name, password=kept)
    other = "md5" if form != "md5" else "scram-sha-256"
    assert users.change("present", name, password="pass wörd", encrypted=other).changes == {
        name: {"password": True}
    }
    assert server.lets_in(name, "pass wörd")


def test_a_password_that_the_server_encrypted_is_known(users: Bench, server: Server) -> None:
    for form, name, word in (("md5", "m", "plain"), ("scram-sha-256", "s", "ﬁne\u00a0wo\u00adrd Ⅳ")):
        server.psql(f"SET password_encryption = '{form}'; CREATE ROLE {name} LOGIN PASSWORD '{word}'")
        users.same("present", name, password=word)
        assert users.call("present", name, password="other", test=True).changes == {name: {"password": True}}


def test_without_a_form_the_server_decides(users: Bench, server: Server) -> None:
    users.change("present", "undecided", password="x", encrypted=True)
    kept = server.psql("SELECT rolpassword FROM pg_authid WHERE rolname = 'undecided'")
    assert kept.startswith("SCRAM-SHA-256$4096:")
    assert users.call("present", "undecided", password="x", encrypted=False).warnings


def test_a_verifier_is_stored_as_it_is(users: Bench, server: Server) -> None:
    made = verifier("given", "open sesame", "scram-sha-256")
    users.change("present", "given", password=made)
    assert server.psql("SELECT rolpassword FROM pg_authid WHERE rolname = 'given'") == made
    assert server.lets_in("given", "open sesame")


def test_a_default_password_is_for_new_users_only(users: Bench, server: Server) -> None:
    users.change("present", "fresh", default_password="first")
    assert server.lets_in("fresh", "first")
    users.same("present", "fresh", default_password="second")


def test_a_password_is_refreshed_in_every_run(users: Bench) -> None:
    users.change("present", "often", password="same")
    for test, outcome in ((True, Outcome.WOULD_CHANGE), (False, Outcome.OK), (False, Outcome.OK)):
        result = users.call("present", "often", password="same", refresh_password=True, test=test)
        assert (result.outcome, result.changes) == (outcome, {"often": {"password": True}})


def test_who_may_not_read_passwords_is_reported_that_they_were_not_compared(
    users: Bench, server: Server
) -> None:
    server.psql("CREATE ROLE registrar LOGIN CREATEROLE PASSWORD 'r'; CREATE ROLE someone PASSWORD 'x'")
    low: dict[str, Any] = {"db_user": "registrar", "db_password": "r", "db_host": "127.0.0.1"}
    result = users.same("present", "someone", password="y", **low)
    assert "not compared, since registrar may not read" in result.warnings[0]
    assert result.data["has_password"] is None
    refreshed = users.call("present", "someone", password="y", refresh_password=True, login=True, **low)
    assert refreshed.changes == {"someone": {"login": True, "password": True}}
    assert server.lets_in("someone", "y")


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_just_names(bench_of: MakeBench, users: Bench, server: Server, name: str) -> None:
    groups = bench_of("postgres_group")
    groups.change("present", f"g {name}")
    assert users.change("present", name, password=name, groups=[f"g {name}"]).changes == {name: "Present"}
    assert users.salt["postgres.user_exists"](name) is True
    assert server.lets_in(name, name)
    users.change("absent", name)
    groups.change("absent", f"g {name}")
    assert server.psql("SELECT rolname FROM pg_roles WHERE rolname = 'postgres'") == "postgres"


def test_a_group_cannot_log_in_and_may_be_in_groups(bench_of: MakeBench, server: Server) -> None:
    groups = bench_of("postgres_group")
    groups.change("present", "outer")
    done = groups.change("present", "inner", groups=["outer"], createdb=True)
    assert done.data["login"] is False and done.data["groups"] == ["outer"]
    assert done.comment == "Group inner was created"
    groups.change("absent", "inner")


def test_a_user_that_owns_something_stays_and_the_server_says_why(users: Bench, server: Server) -> None:
    server.psql("CREATE ROLE holder; CREATE DATABASE held OWNER holder")
    refusal = users.refusal("absent", "holder")
    assert '"holder" cannot be dropped because some objects depend on it; owner of database held' in refusal


def test_no_secret_reaches_a_result_or_the_servers_log(users: Bench, server: Server) -> None:
    secret = "hush-Gh7-do-not-tell"
    results = [users.call("present", "quiet", password=secret, test=test) for test in (True, False)]
    results.append(users.call("present", "quiet", password=f"{secret}2"))
    results.append(users.call("present", "quiet", password=secret, groups=["nobody here"]))
    results.append(users.call("present", "quiet", password=secret, db_password=secret, db_host="127.0.0.1"))
    assert [one.outcome for one in results[-2:]] == [Outcome.FAILED, Outcome.FAILED]
    assert secret not in repr(results)
    assert secret not in server.log.read_text()
    kept = server.psql("SELECT rolpassword FROM pg_authid WHERE rolname = 'quiet'")
    assert kept not in repr(results)


def test_what_cannot_be_is_refused_in_words(users: Bench) -> None:
    assert "encrypted cannot be 'rot13'" in users.refusal("present", "u", password="x", encrypted="rot13")
    assert "longer than 63 bytes" in users.refusal("present", "ü" * 32)
    assert "must not be empty" in users.refusal("present", "a\0b")
    assert "must be Unicode text" in users.refusal("present", "a\udc80b")
    bad_date = users.refusal("present", "u", valid_until="someday")
    assert bad_date == 'PostgreSQL: invalid input syntax for type timestamp with time zone: "someday"'
    assert users.refusal("present", "u", groups=["nowhere"]) == 'PostgreSQL: role "nowhere" does not exist'
    assert "password authentication failed" in users.refusal(
        "present", "u", db_user="u", db_password="wrong", db_host="127.0.0.1"
    )
    assert "no user is called 'nobody-at-all'" in users.refusal("present", "u", user="nobody-at-all")


def test_a_server_that_is_not_there_fails_a_run_but_not_a_test(users: Bench) -> None:
    gone = {"db_host": "/nowhere", "db_port": 1}
    assert "Is the server running" in users.refusal("present", "u", **gone)
    foreseen = users.call("present", "u", test=True, **gone)
    assert (foreseen.outcome, foreseen.changes) == (Outcome.WOULD_CHANGE, {"u": "Present"})
    assert "predicted as if nothing existed yet" in foreseen.warnings[0]
