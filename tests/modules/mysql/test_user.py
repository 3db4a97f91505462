"""``mysql_user``, on a real MariaDB server."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.mariadb_server import Server
from tests.modules.bench import Bench
from tests.modules.mysql.names import AWKWARD

from saltern.language.result import Result
from saltern.modules.functions import mysql
from saltern.modules.lib.databases.mysql.accounts import native_hash
from saltern.modules.states import mysql_user
from saltern.system.host import LocalHost
from saltern.system.process import Ran

pytestmark = pytest.mark.machine
SECRET = "s3'cr\\\"et #%; "


@pytest.fixture
def bench(tmp_path: Path, server: Server) -> Bench:
    return Bench(tmp_path, mysql_user, functions={"mysql": mysql}, opts={"mysql.unix_socket": server.socket})


@pytest.fixture
def ed25519(server: Server) -> Iterator[None]:
    if server.try_sql("INSTALL SONAME 'auth_ed25519'").returncode:
        pytest.skip("the server has no ed25519 plugin")
    yield
    server.sql("UNINSTALL SONAME 'auth_ed25519'")


def shown(result: Result) -> str:
    return f"{result.comment} {result.changes} {result.data} {result.warnings}"


def test_an_account_logs_in_with_its_password_and_then_with_another(bench: Bench, server: Server) -> None:
    done = bench.change("present", "saltern-t-a", password=SECRET)
    assert done.changes == {"saltern-t-a": "Present"}
    assert (
        server.sql("SELECT CURRENT_USER()", user="saltern-t-a", password=SECRET) == "saltern-t-a@localhost\n"
    )
    again = bench.change("present", "saltern-t-a", password="other")
    assert again.changes == {"saltern-t-a": "Updated"}
    server.sql("SELECT 1", user="saltern-t-a", password="other")
    hashed = bench.change("present", "saltern-t-a", password_hash=native_hash(SECRET).lower())
    server.sql("SELECT 1", user="saltern-t-a", password=SECRET)
    for result in (done, again, hashed):
        assert SECRET not in shown(result)
        assert native_hash(SECRET) not in shown(result)
    assert bench.change("absent", "saltern-t-a").changes == {"saltern-t-a": "Absent"}


def test_no_password_is_for_those_who_ask_for_it(bench: Bench, server: Server) -> None:
    assert "needs a password" in bench.refusal("present", "saltern-t-b")
    bench.change("present", "saltern-t-b", allow_passwordless=True)
    server.sql("SELECT 1", user="saltern-t-b")
    bench.change("present", "saltern-t-b", unix_socket=True, allow_passwordless=True)
    assert server.try_sql("SELECT 1", user="saltern-t-b").returncode
    bench.change("present", "saltern-t-b", password="12345", host="localhost")
    bench.change("absent", "saltern-t-b")


def test_another_way_to_log_in_outlives_a_new_password(bench: Bench, server: Server) -> None:
    server.sql(
        "CREATE USER 'saltern-t-c'@'localhost' "
        "IDENTIFIED VIA mysql_native_password USING 'invalid' OR unix_socket"
    )
    bench.same("present", "saltern-t-c", unix_socket=True)
    bench.change("present", "saltern-t-c", password=SECRET)
    assert "OR unix_socket" in server.sql("SHOW CREATE USER 'saltern-t-c'@'localhost'")
    warned = bench.same("present", "saltern-t-c", password=SECRET, unix_socket=True)
    assert "unix_socket is not used" in warned.warnings[0]
    bench.change("absent", "saltern-t-c")


def test_a_salted_password_is_checked_by_logging_in(bench: Bench, server: Server, ed25519: None) -> None:
    bench.change("present", "saltern-t-d", password=SECRET, auth_plugin="ed25519")
    bench.change("present", "saltern-t-d", password="other", auth_plugin="ed25519")
    server.sql("SELECT 1", user="saltern-t-d", password="other")
    bench.change("present", "saltern-t-d", password="other")  # another plugin is a change, too
    bench.change("absent", "saltern-t-d")


def test_a_salted_password_for_elsewhere_cannot_be_checked_and_that_is_said(
    bench: Bench, server: Server, ed25519: None
) -> None:
    elsewhere: dict[str, Any] = {"host": "10.9.8.7", "auth_plugin": "ed25519"}
    assert bench.call("present", "saltern-t-e", password=SECRET, **elsewhere).changes
    result = bench.same("present", "saltern-t-e", password="wrong", **elsewhere)
    assert "cannot be checked" in result.warnings[0]
    bench.change("absent", "saltern-t-e", host="10.9.8.7")


@pytest.mark.parametrize("name", AWKWARD)
def test_any_name_is_a_name_and_nothing_else(bench: Bench, server: Server, name: str) -> None:
    everybody = "SELECT CONCAT(User, '@', Host) FROM mysql.user ORDER BY 1"
    before = server.sql(everybody)
    bench.change("present", name, password=name, host="%.EXAMPLE.org")
    assert f"{name}@%.example.org" in server.sql(everybody)
    bench.change("absent", name, host="%.example.org")
    assert server.sql(everybody) == before


def test_blanks_at_the_end_make_another_user(bench: Bench) -> None:
    bench.change("present", "saltern-t-f", allow_passwordless=True)
    bench.same("absent", "saltern-t-f ")
    bench.change("absent", "saltern-t-f")


def test_what_cannot_be_is_refused_and_the_secret_stays_out(bench: Bench, server: Server) -> None:
    assert "not a hash for mysql_native_password" in bench.refusal("present", "x", password_hash="nonsense")
    assert "auth_plugin cannot be" in bench.refusal("present", "x", password="p", auth_plugin="a b")
    unknown = bench.refusal("present", "saltern-t-g", password=SECRET, auth_plugin="no_such_plugin")
    assert "MySQL Error 1524" in unknown and SECRET not in unknown
    denied = bench.refusal(
        "present", "x", password="p", connection_user="nobody-here", connection_pass=SECRET
    )
    assert "Access denied" in denied and SECRET not in denied
    login = {"connection_user": "saltern-t-h", "connection_pass": SECRET}
    bench.change("present", "saltern-t-h", password=SECRET)
    less = bench.refusal("present", "y", password=SECRET, **login)
    assert "MySQL Error 1142" in less and SECRET not in less
    bench.change("absent", "saltern-t-h")


def test_a_login_may_come_from_an_option_file(bench: Bench, server: Server, tmp_path: Path) -> None:
    bench.change("present", "saltern-t-i", password=SECRET)
    server.sql("GRANT ALL ON *.* TO 'saltern-t-i'@'localhost'")
    file = tmp_path / "login.cnf"
    file.write_text(
        f'[client-backup]\nuser=saltern-t-i\npassword="s3\'cr\\\\\\"et #%; "\nsocket={server.socket}\n'
    )
    way = {"connection_default_file": str(file), "connection_default_group": "client-backup"}
    assert bench.salt["mysql.query"]("", "SELECT CURRENT_USER()", **way)["results"] == [  # type: ignore[index]
        ["saltern-t-i@localhost"]
    ]
    bench.change("absent", "saltern-t-i")


class Watching(LocalHost):
    """The real machine, which remembers every command line and what was in the option file."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.files: list[tuple[str, int]] = []

    def run(self, command: str | Sequence[str], **options: Any) -> Ran:
        self.lines.append(" ".join(command))
        file = next(word.partition("=")[2] for word in command if word.startswith("--defaults-file="))
        self.files.append((file, os.stat(file).st_mode & 0o777))
        return LocalHost.run(command, **options)


def test_no_secret_is_on_a_command_line_and_no_file_stays(tmp_path: Path, server: Server) -> None:
    host = Watching()
    bench = Bench(tmp_path, mysql_user, host=host, opts={"mysql.unix_socket": server.socket})
    bench.change("present", "saltern-t-j", password=SECRET)
    bench.call("present", "x", password=SECRET, connection_user="saltern-t-j", connection_pass=SECRET)
    bench.change("absent", "saltern-t-j")
    assert host.lines and SECRET.strip() not in " ".join(host.lines)
    assert {mode for _, mode in host.files} == {0o600}
    assert [file for file, _ in host.files if os.path.exists(file)] == []
