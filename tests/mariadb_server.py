"""A MariaDB server of the tests' own: in a temporary directory, on a private socket, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAMS = ("mariadb", "mariadbd", "mariadb-install-db")
PATIENCE = 30.0
SMALL = ("--innodb-buffer-pool-size=16M", "--innodb-log-file-size=4M", "--skip-networking")


class Server:
    """``sql`` asks it with the plain client, beside the code that is tested."""

    def __init__(self, place: Path) -> None:
        self.socket = str(place / "socket")
        self.errors = place / "errors"

    def sql(self, statements: str, *, user: str = "root", password: str = "") -> str:
        done = self.try_sql(statements, user=user, password=password)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def try_sql(
        self, statements: str, *, user: str = "root", password: str = ""
    ) -> subprocess.CompletedProcess[str]:
        argv = [
            "mariadb",
            "--no-defaults",
            "-S",
            self.socket,
            "-u",
            user,
            "--batch",
            "--raw",
            "-N",
            "--binary-mode",
        ]
        env = {**os.environ, "MYSQL_PWD": password}
        return subprocess.run(argv, input=statements, capture_output=True, text=True, env=env, check=False)


def _why_not() -> str:
    missing = [one for one in PROGRAMS if shutil.which(one, path=f"{os.environ['PATH']}:/usr/sbin") is None]
    if os.geteuid():
        return "needs root"
    return f"needs {', '.join(missing)} (Debian: mariadb-server)" if missing else ""


@contextmanager
def running_server() -> Iterator[Server]:
    """A server that runs until the end of the block; skips the test if there is none to run."""
    if why := _why_not():
        pytest.skip(why)
    place = Path(tempfile.mkdtemp(prefix="saltern-t-mariadb-"))
    owner = pwd.getpwnam("mysql")
    os.chown(place, owner.pw_uid, owner.pw_gid)
    data = f"--datadir={place}/data"
    made = subprocess.run(
        ["mariadb-install-db", "--no-defaults", data, "--user=mysql", "--skip-test-db"],
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    found = Server(place)
    process = subprocess.Popen(
        [
            shutil.which("mariadbd", path=f"{os.environ['PATH']}:/usr/sbin") or "mariadbd",
            *("--no-defaults", data, f"--socket={found.socket}", f"--pid-file={place}/pid"),
            *("--user=mysql", f"--log-error={found.errors}", *SMALL),
        ]
    )
    try:
        _wait_for(found, process)
        yield found
    finally:
        process.terminate()
        process.wait(PATIENCE)
        shutil.rmtree(place)


def _wait_for(found: Server, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while found.try_sql("SELECT 1").returncode:
        told = found.errors.read_text() if found.errors.exists() else ""
        assert process.poll() is None and time.monotonic() < end, told
        time.sleep(0.05)
