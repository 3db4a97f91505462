"""SQL through ``psql``: logins, and values that never become part of the SQL text.

A statement names its values as psql variables: ``:'value'`` becomes a literal, ``:"name"`` an identifier.
Their contents are sent on stdin with the statement, so that ``ps`` does not show them and quotes do no harm.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from io import StringIO

import msgspec
from msgspec import Struct

from saltern.language.unicode import is_unicode
from saltern.modules.api.context import Context
from saltern.modules.api.programs import MOST_SHOWN, PLAIN_WORDS, missing_program
from saltern.modules.api.refused import Refused
from saltern.modules.lib.accounts.passwords import REDACTED
from saltern.modules.lib.databases.postgres.programs import option, program
from saltern.system.process import NOT_FOUND, Ran

Row = dict[str, object]
Values = Mapping[str, str]

SYSTEM_USER = "postgres"
MAINTENANCE_DB = "postgres"
LONGEST_NAME = 63  # bytes; the server truncates longer names without an error
FLAGS = ("-X", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-v", "SHOW_CONTEXT=never")
PLAIN = ("-A", "-t")

# Characters with a meaning inside the quotes of psql's own commands.
ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"})
NO_SERVER = re.compile(r"Is the server running")
NO_DATABASE = re.compile(r'FATAL: +database ".*" does not exist', re.DOTALL)


class NotThere(Refused):
    """There is no psql, no server or no such database: nothing can be read yet."""


class NoDatabase(NotThere):
    """The server has no such database."""


class Login(Struct, frozen=True, kw_only=True):
    """The login to a database. ``runas`` is the system user that psql runs as."""

    user: str = ""
    host: str = ""
    port: str = ""
    db: str = MAINTENANCE_DB
    password: str = ""
    runas: str | None = None

    def __repr__(self) -> str:  # an exception must not show the password
        return f"Login({self.user}@{self.host}:{self.port}/{self.db})"


def login(
    ctx: Context,
    *,
    user: object = None,
    host: object = None,
    port: object = None,
    db: object = None,
    password: object = None,
    runas: object = None,
) -> Login:
    """The login; the defaults are the options ``postgres.user``, ``postgres.host`` … as in Salt."""
    where = str(host or option(ctx, "host"))
    local = not where or where.startswith("/")
    own = SYSTEM_USER if local and os.geteuid() == 0 else None
    return Login(
        user=str(user or option(ctx, "user")),
        host=where,
        port=str(port or option(ctx, "port")),
        db=str(db or option(ctx, "maintenance_db") or MAINTENANCE_DB),
        password=str(password if password is not None else option(ctx, "pass")),
        runas=str(runas) if runas else ctx.runas or own,
    )


def check_name(value: object, what: str) -> str:
    """A name for the server. Raises ``Refused`` for a name that it could not store unchanged."""
    name = str(value)
    if not name or "\0" in name:
        raise Refused(f"{what} must not be empty or contain a NUL byte")
    if len(name.encode("utf-8", "replace")) > LONGEST_NAME:
        raise Refused(
            f"{what} is longer than {LONGEST_NAME} bytes, which PostgreSQL would truncate: {name!r}"
        )
    return name


def rows(ctx: Context, who: Login, sql: str, values: Values | None = None, *, before: str = "") -> list[Row]:
    """The rows of a SELECT. ``before`` is run first, such as a statement that sets variables with
    ``\\gset``.
    """
    wrapped = f"SELECT coalesce(json_agg(found), '[]') FROM ({sql}) AS found;\n"
    out = _psql(ctx, who, f"{_assignments(values or {})}{before}\n{wrapped}")
    return msgspec.json.decode(out, type=list[Row])


def execute(
    ctx: Context,
    who: Login,
    *statements: str,
    values: Values | None = None,
    secrets: Sequence[str] = (),
    together: bool = False,
) -> None:
    """Run statements in order, ``together`` in one transaction. ``secrets`` never appear in a message."""
    lines = "".join(one + ("\n" if one.endswith("\\gexec") else ";\n") for one in statements)
    script = f"BEGIN;\n{lines}COMMIT;\n" if together else lines
    _psql(ctx, who, _assignments(values or {}) + script, secrets=secrets)


def query(ctx: Context, who: Login, sql: str, *, write: bool = False) -> list[dict[str, str]]:
    """Run a user's own statement. It is passed as a value, so psql's commands in it have no effect."""
    import csv

    limit = "" if write else "SET default_transaction_read_only = on;\n"
    out = _psql(ctx, who, f"{_assignments({'query': sql})}{limit}SELECT :'query' \\gexec\n", form=("--csv",))
    csv.field_size_limit(2**31 - 1)
    return [dict(row) for row in csv.DictReader(StringIO(out, newline=""))]


def _assignments(values: Values) -> str:
    for name, value in values.items():
        if "\0" in value or not is_unicode(value):
            raise Refused(f"{name} must be Unicode text without a NUL byte")
    return "".join(f"\\set {name} '{value.translate(ESCAPES)}'\n" for name, value in values.items())


def _psql(
    ctx: Context, who: Login, script: str, *, form: Sequence[str] = PLAIN, secrets: Sequence[str] = ()
) -> str:
    ran = ctx.host.run(
        [program(ctx, "psql"), *FLAGS, *form],
        stdin=script,
        user=who.runas,
        env=_environment(who),
        cwd="/",  # another user may not have access to our directory
        timeout=_patience(ctx),
    )
    if ran.code == 0:
        return ran.out
    raise _problem(ran, [*secrets, who.password])


def _patience(ctx: Context) -> float | None:
    """The seconds of the option ``postgres.timeout``; None for 0 or if it is not set: no limit."""
    text = option(ctx, "timeout") or "0"
    try:
        return float(text) or None
    except ValueError:
        raise Refused(f"the option postgres.timeout needs a number of seconds, got {text!r}") from None


def _environment(who: Login) -> dict[str, str]:
    """The login as environment, since psql may read a database name on the command line as a connection
    string.
    """
    given = {
        "PGHOST": who.host,
        "PGPORT": who.port,
        "PGUSER": who.user,
        "PGDATABASE": who.db,
        "PGPASSWORD": who.password,
    }
    return {**PLAIN_WORDS, "PGCLIENTENCODING": "UTF8", **{key: text for key, text in given.items() if text}}


def _problem(ran: Ran, secrets: Sequence[str]) -> Refused:
    if ran.code == NOT_FOUND and not ran.out:
        return NotThere(missing_program("psql", "PostgreSQL's client package"))
    if ran.timed_out:
        return Refused("PostgreSQL did not respond within the time of the option postgres.timeout")
    said = error_text(ran.err, secrets) or f"psql ended with exit code {ran.code}"
    kinds = ((NO_DATABASE, NoDatabase), (NO_SERVER, NotThere))
    kind = next((kind for sign, kind in kinds if sign.search(ran.err)), Refused)
    return kind(f"PostgreSQL: {said}")


def error_text(err: str, secrets: Sequence[str]) -> str:
    """The server's message for the user, without quotes of the statement, which may contain a password."""
    kept: list[str] = []
    for line in err.splitlines():
        text = re.sub(r"^psql:(<stdin>:\d+:)? *(error: *)?", "", line).strip()
        if re.match(r"(NOTICE|WARNING|LINE \d+|STATEMENT|QUERY|\^)(:|$)", text):
            continue
        text = re.sub(r"^connection to (server .*?) failed: (FATAL: +)?", r"cannot connect to \1: ", text)
        if text:
            kept.append(re.sub(r"^(ERROR|DETAIL|HINT|FATAL): +", "", text))
    words = "; ".join(kept)
    for secret in filter(None, secrets):
        words = words.replace(secret, REDACTED)
    return words[-MOST_SHOWN:]
