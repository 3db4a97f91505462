"""A database as one file: saved while controllers run, and restored while none does."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess

from sqlalchemy import make_url
from sqlalchemy.engine import URL

from saltern.language.diagnostics import Diagnostic, OperationError


def take_snapshot(address: str, path: str) -> None:
    """Write the database at an address to a file that does not exist yet."""
    url = make_url(address)
    if url.get_backend_name() == "sqlite":
        with sqlite3.connect(f"file:{url.database}?mode=ro", uri=True, timeout=60) as connection:
            connection.execute("VACUUM INTO ?", (path,))
        connection.close()
        os.chmod(path, 0o600)
        return
    _run("pg_dump", url, "--format=custom", "--no-owner", "--file", path)


def put_snapshot(address: str, path: str) -> None:
    """Restore the database at an address from the file."""
    url = make_url(address)
    if url.get_backend_name() == "sqlite":
        target = str(url.database)
        for suffix in ("", "-wal", "-shm"):
            if os.path.lexists(target + suffix):
                os.unlink(target + suffix)
        shutil.copyfile(path, target)
        os.chmod(target, 0o600)
        return
    _run("pg_restore", url, "--clean", "--if-exists", "--no-owner", "--single-transaction", path)


def _run(program: str, url: URL, *arguments: str) -> None:
    """A program of PostgreSQL. The password is passed in the environment, since command lines are public."""
    found = shutil.which(program)
    if found is None:
        raise _snapshot_error(f"{program} is not installed", "install the client programs of PostgreSQL")
    plain = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    environment = {**os.environ, **({"PGPASSWORD": url.password} if url.password else {})}
    done = subprocess.run(
        [found, f"--dbname={plain}", *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise _snapshot_error(f"{program} failed: {last}", "check the address and the rights")


def _snapshot_error(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="database-snapshot", what=what, fix=fix))
