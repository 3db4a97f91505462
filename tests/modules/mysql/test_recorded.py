"""What only MySQL says: recorded, since Debian has no MySQL server to ask.

The lines of ``SHOW GRANTS``, ``SHOW PRIVILEGES`` and ``mysql.user`` are in the form that the reference
manual of MySQL 8.0 shows; the answers around them are in that of the client's ``--xml``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from tests.modules.bench import Bench

from saltern.modules.lib.databases.mysql.privileges import Level, parse_grant_line, without_login
from saltern.modules.states import mysql_grants, mysql_user
from saltern.system.host import LocalHost
from saltern.system.process import Ran

STATIC = (
    "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD, SHUTDOWN, PROCESS, FILE, REFERENCES, INDEX, "
    "ALTER, SHOW DATABASES, SUPER, CREATE TEMPORARY TABLES, LOCK TABLES, EXECUTE, REPLICATION SLAVE, "
    "REPLICATION CLIENT, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, CREATE USER, EVENT, TRIGGER, "
    "CREATE TABLESPACE, CREATE ROLE, DROP ROLE"
)
DYNAMIC = "APPLICATION_PASSWORD_ADMIN,BACKUP_ADMIN,ROLE_ADMIN"
GRANTS = (
    f"GRANT {STATIC} ON *.* TO `shop`@`localhost` WITH GRANT OPTION",
    f"GRANT {DYNAMIC} ON *.* TO `shop`@`localhost` WITH GRANT OPTION",
    "GRANT PROXY ON ``@`` TO `shop`@`localhost` WITH GRANT OPTION",
    "GRANT `r1`@`%` TO `shop`@`localhost`",
)
PRIVILEGES = [one.strip() for one in f"{STATIC},{DYNAMIC},GRANT OPTION,PROXY,USAGE".split(",")]
Rows = list[dict[str, str]]


def table(rows: Rows) -> str:
    fields = (
        "".join(f'<field name="{name}">{escape(value)}</field>' for name, value in row.items())
        for row in rows
    )
    body = "".join(f"<row>{one}</row>" for one in fields)
    return f'<resultset statement="" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">{body}</resultset>'


class MySql(LocalHost):
    """Answers by what a statement begins with, and remembers those that change something."""

    def __init__(self, user: Rows) -> None:
        self.answers: dict[str, Rows] = {
            "SELECT account": user,
            "SELECT VERSION": [{"version": "8.0.36"}],
            "SHOW PRIVILEGES": [{"Privilege": name.capitalize()} for name in PRIVILEGES],
            "SHOW GRANTS": [{"Grants for shop@localhost": line} for line in GRANTS],
        }
        self.done: list[str] = []

    def run(self, command: str | Sequence[str], **options: object) -> Ran:
        sent = options["stdin"]
        assert isinstance(sent, bytes)
        printed = ""
        for statement in filter(None, sent.decode().split(";\n")):
            found = next((rows for start, rows in self.answers.items() if statement.startswith(start)), None)
            if found is not None:
                printed += table(found)
            elif not statement.startswith("SET SESSION") and statement.strip():
                self.done.append(statement)
        return Ran(0, printed)


@pytest.fixture
def user() -> Rows:
    native = {"plugin": "mysql_native_password", "authentication_string": "*" + 40 * "A"}
    return [{"User": "shop", "Host": "localhost", **native, "server_version": "8.0.36"}]


def test_all_on_everything_is_known_by_its_parts(tmp_path: Path, user: Rows) -> None:
    bench = Bench(tmp_path, mysql_grants, host=MySql(user))
    bench.same("present", "it", grant="all", database="*.*", user="shop", grant_option=True)
    bench.same("present", "it", grant="backup_admin, replication client", database="*.*", user="shop")


def test_accounts_are_made_in_the_words_of_mysql(tmp_path: Path, user: Rows) -> None:
    host = MySql([])
    bench = Bench(tmp_path, mysql_user, host=host)
    bench.call("present", "shop", password="p'w", auth_plugin="caching_sha2_password")
    bench.call("present", "shop", unix_socket=True)
    bench.call("present", "shop", password_hash="*" + 40 * "b")
    assert host.done == [
        "CREATE USER 'shop'@'localhost' IDENTIFIED WITH caching_sha2_password BY 'p''w'",
        "CREATE USER 'shop'@'localhost' IDENTIFIED WITH auth_socket",
        f"CREATE USER 'shop'@'localhost' IDENTIFIED WITH mysql_native_password AS '*{40 * 'B'}'",
    ]
    host = MySql(user)
    bench = Bench(tmp_path, mysql_user, host=host)
    bench.same("present", "shop", password_hash="*" + 40 * "a")
    bench.call("present", "shop", password="new")
    assert host.done == ["ALTER USER 'shop'@'localhost' IDENTIFIED WITH mysql_native_password BY 'new'"]


def test_lines_about_roles_and_proxies_are_no_grants_of_privileges() -> None:
    assert [parse_grant_line(line) is None for line in GRANTS] == [False, False, True, True]
    assert parse_grant_line("SET DEFAULT ROLE `r` FOR `u`@`h`") is None


def test_an_old_line_shows_its_parts_and_not_its_hash() -> None:
    line = "GRANT SELECT (`a`) ON `x``y`.`t` TO 'o''b'@'%' IDENTIFIED BY PASSWORD '*AB' WITH GRANT OPTION"
    found = parse_grant_line(line)
    assert found is not None
    assert (found.level, found.option, found.host) == (Level("x`y", "t"), True, "%")
    assert without_login(line) == "GRANT SELECT (`a`) ON `x``y`.`t` TO 'o''b'@'%' WITH GRANT OPTION"


def test_a_machine_without_the_client_says_what_to_install(tmp_path: Path) -> None:
    class Bare(LocalHost):
        def run(self, command: str | Sequence[str], **options: object) -> Ran:
            return Ran(127, err="mysql: no such file or directory")

    said = Bench(tmp_path, mysql_user, host=Bare()).refusal("absent", "x")
    assert "mariadb or mysql is not on this machine" in said
