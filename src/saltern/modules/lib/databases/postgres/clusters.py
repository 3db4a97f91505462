"""Data directories created by ``initdb``, and Debian's clusters (``pg_lsclusters`` …)."""

from __future__ import annotations

import os

import msgspec
from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import PLAIN_WORDS, error_text, missing_program, tool
from saltern.modules.api.refused import Refused
from saltern.modules.lib.accounts.passwords import REDACTED
from saltern.modules.lib.databases.postgres.client import SYSTEM_USER
from saltern.modules.lib.databases.postgres.programs import program
from saltern.system.process import NOT_FOUND, UnknownUser, look_up
from saltern.system.temporary import private_file

MARKS = (
    "PG_VERSION",
    "global/pg_control",
)  # present after a successful run; Debian keeps the rest elsewhere


class Listed(Struct, frozen=True):
    """A row of ``pg_lsclusters --json``; numbers may be written as text."""

    version: object
    cluster: str
    port: object
    pgdata: str
    logfile: str = ""
    running: object = 0
    owneruid: int = -1


class Cluster(Struct, frozen=True, kw_only=True):
    version: str
    name: str
    port: int
    status: str
    user: str
    datadir: str
    log: str

    def facts(self) -> dict[str, object]:
        known = ("version", "port", "status", "user", "datadir", "log")
        return {"name": self.name, "exists": True, **{key: getattr(self, key) for key in known}}


def clusters(ctx: Context) -> list[Cluster]:
    """All clusters of this machine that Debian's commands know."""
    listed = msgspec.json.decode(tool(ctx, "pg_lsclusters", "--json").out, type=list[Listed])
    return [
        Cluster(
            version=str(one.version),
            name=one.cluster,
            port=int(str(one.port)),
            status="online" if one.running in (1, "1", True) else "down",
            user=_user(one.owneruid),
            datadir=one.pgdata,
            log=one.logfile,
        )
        for one in listed
    ]


def _user(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):
        return str(uid)


def cluster(ctx: Context, version: str, name: str) -> Cluster | None:
    return next((one for one in clusters(ctx) if (one.version, one.name) == (version, name)), None)


class Layout(Struct, frozen=True, kw_only=True):
    """The settings of a new cluster; empty ones are left to the system."""

    port: str = ""
    encoding: str = ""
    locale: str = ""
    datadir: str = ""
    allow_group_access: bool = False
    data_checksums: bool = False
    wal_segsize: str = ""


def create(ctx: Context, version: str, name: str, layout: Layout) -> None:
    named = (("port", "--port"), ("encoding", "--encoding"), ("locale", "--locale"), ("datadir", "--datadir"))
    argv = ["pg_createcluster"]
    for key, flag in named:
        if value := getattr(layout, key):
            argv += [flag, value]
    argv += [check_value(version, "version"), check_value(name, "name")]
    extra = [
        *(["--allow-group-access"] if layout.allow_group_access else ()),
        *(["--data-checksums"] if layout.data_checksums else ()),
        *(["--wal-segsize", layout.wal_segsize] if layout.wal_segsize else ()),
    ]
    tool(ctx, *argv, *(["--", *extra] if extra else ()))


def remove(ctx: Context, version: str, name: str, *, stop: bool) -> None:
    halt = ["--stop"] if stop else []
    tool(ctx, "pg_dropcluster", *halt, check_value(version, "version"), check_value(name, "name"))


def check_value(value: str, what: str) -> str:
    """A value for Debian's commands, which becomes part of a path."""
    if not value or value.startswith(("-", ".")) or any(sign in value for sign in "/\0\n \t"):
        raise Refused(f"{what} cannot be {value!r}: it becomes the name of a directory")
    return value


class Directory(Struct, frozen=True, kw_only=True):
    """A data directory to create with ``initdb``. ``user`` is the server's first superuser."""

    path: str
    auth: str = "password"
    user: str = ""
    password: str = ""
    encoding: str = ""
    locale: str = ""
    waldir: str = ""
    checksums: bool = False
    runas: str = SYSTEM_USER

    def __repr__(self) -> str:  # an exception must not show the password
        return f"Directory({self.path!r})"


def initialized(path: str) -> bool:
    return all(os.path.isfile(os.path.join(path, mark)) for mark in MARKS)


def initialize(ctx: Context, want: Directory) -> None:
    """Create the data directory as its later owner: ``initdb`` refuses to run as root."""
    argv = [program(ctx, "initdb"), "--pgdata", want.path, "--auth", want.auth]
    for flag, value in (
        ("--username", want.user),
        ("--encoding", want.encoding),
        ("--locale", want.locale),
        ("--waldir", want.waldir),
    ):
        argv += [flag, value] if value else []
    argv += ["--data-checksums"] if want.checksums else []
    if not want.password:
        _initdb(ctx, argv, want)
        return
    # Readable only by ``runas``; a command line would show it to every user.
    with private_file("initdb", f"{want.password}\n".encode(), owner=_owner(want)) as place:
        _initdb(ctx, [*argv, "--pwfile", place], want)


def _owner(want: Directory) -> tuple[int, int] | None:
    try:
        owner = look_up(want.runas)
    except UnknownUser as problem:
        raise Refused(str(problem)) from None
    return (owner.uid, owner.gid) if os.geteuid() == 0 else None


def _initdb(ctx: Context, argv: list[str], want: Directory) -> None:
    ran = ctx.host.run(argv, user=want.runas, env=PLAIN_WORDS, cwd="/")
    if ran.code == NOT_FOUND and not ran.out:
        raise Refused(missing_program("initdb", "PostgreSQL's server package"))
    if ran.code:
        text = error_text(ran)
        raise Refused(f"initdb: {text.replace(want.password, REDACTED) if want.password else text}")
