"""Run statements with the client program, and return its results or its error."""

from __future__ import annotations

import re
from collections.abc import Sequence

from saltern.modules.api.context import Context
from saltern.modules.api.programs import PLAIN_WORDS, error_text, has
from saltern.modules.api.refused import Refused
from saltern.modules.lib.accounts.passwords import REDACTED
from saltern.modules.lib.databases.mysql import answers
from saltern.modules.lib.databases.mysql.answers import Table
from saltern.modules.lib.databases.mysql.connection import Connection
from saltern.modules.lib.databases.mysql.literals import text
from saltern.system.process import NOT_FOUND, Ran
from saltern.system.temporary import private_file

PROGRAMS = ("mariadb", "mysql")
FLAGS = (
    "--batch",
    "--xml",
    "--binary-mode",
    "--no-auto-rehash",
    "--skip-safe-updates",
    "--connect-timeout=30",
)
VERBOSE = "-vvv"  # the level at which it prints how many rows a statement changed

# Quotes mean the same in any session, names are shown in backticks, and no GRANT creates a user.
PINNED = (
    "SET SESSION sql_mode = CONCAT('NO_ENGINE_SUBSTITUTION', "
    "IF(VERSION() LIKE '%MariaDB%' OR VERSION() LIKE '5.%', ',NO_AUTO_CREATE_USER', ''))",
    "SET SESSION sql_quote_show_create = 1",
)

ERROR = re.compile(r"^ERROR (\d+)(?: \(\w+\))?(?: at line \d+)?: (.*)", re.MULTILINE | re.DOTALL)
NO_SERVER = frozenset({2002, 2003, 2005, 2006, 2013})


class ServerRefused(Refused):
    """The server or the client has refused; ``code`` is its error number."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


class NotThere(ServerRefused):
    """There is no client program, or no server responds: nothing can be read yet."""


def ask(ctx: Context, server: Connection, *statements: str, secrets: Sequence[str] = ()) -> list[Table]:
    """Run our own statements in a pinned session; the results of those that have one.

    Raises ``ServerRefused``; ``secrets`` are removed from its message.
    """
    sent = "".join(f"{statement};\n" for statement in (*PINNED, *statements))
    return answers.tables(_run(ctx, server, sent, secrets=secrets).out)


def rows(ctx: Context, server: Connection, statement: str) -> list[answers.Row]:
    """The rows of one statement, by the names of their columns."""
    return [row for table in ask(ctx, server, statement) for row in table.mappings()]


def results_and_count(ctx: Context, server: Connection, statements: str | bytes) -> tuple[list[Table], int]:
    """Run a user's statements unchanged. Returns their results, and how many rows they changed."""
    ran = _run(ctx, server, statements, VERBOSE)
    return answers.tables(ran.out), answers.affected_rows(ran.out)


def _run(
    ctx: Context, server: Connection, statements: str | bytes, *flags: str, secrets: Sequence[str] = ()
) -> Ran:
    program = next((one for one in PROGRAMS if has(one)), PROGRAMS[-1])
    with private_file("mysql", _encode(server.options()), suffix=".cnf") as kept:
        ran = ctx.host.run(
            [program, f"--defaults-file={kept}", *_suffix(server), *FLAGS, *flags],
            stdin=_encode(statements) + b"\n",
            env=PLAIN_WORDS,
        )
    if ran.code == 0:
        return ran
    raise _complaint(ran, program, secrets)


def _suffix(server: Connection) -> list[str]:
    return [f"--defaults-group-suffix={server.suffix}"] if server.suffix else []


def _encode(value: str | bytes) -> bytes:
    try:
        return value.encode() if isinstance(value, str) else value
    except UnicodeEncodeError:
        raise Refused("a name or a value is not valid text: it has bytes that are not UTF-8") from None


def _complaint(ran: Ran, program: str, secrets: Sequence[str]) -> ServerRefused:
    if ran.code == NOT_FOUND and not ran.out:
        names = " or ".join(PROGRAMS)
        return NotThere(0, f"the program {names} is not on this machine; install the server's client package")
    found = ERROR.search(ran.err)
    if found is None:
        return ServerRefused(0, f"{program}: {_without(error_text(ran), secrets) or f'exit code {ran.code}'}")
    code, words = int(found[1]), _without(found[2].strip(), secrets)
    kind = NotThere if code in NO_SERVER else ServerRefused
    return kind(code, f"MySQL Error {code}: {words}")


def _without(words: str, secrets: Sequence[str]) -> str:
    """The message without secrets; an error in our SQL may quote the beginning of one."""
    if not any(secrets):
        return words
    for secret in filter(None, secrets):
        words = words.replace(text(secret)[1:-1], REDACTED).replace(secret, REDACTED)
    return words.partition(" near ")[0]
