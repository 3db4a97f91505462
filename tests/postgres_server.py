"""A PostgreSQL server of the tests' own: from Debian's packages, in a directory that goes with it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def programs() -> str | None:
    """The directory of the newest server that is installed."""
    place = Path("/usr/lib/postgresql")
    found = sorted(place.glob("*/bin/initdb"), key=lambda path: float(path.parent.parent.name))
    return str(found[-1].parent) if found else None


BINARIES = programs()


class Server:
    """A running server; everybody is believed on the socket, and must know a password on 127.0.0.1."""

    def __init__(self, place: Path, port: int) -> None:
        self.place = place
        self.port = port
        self.log = place / "log"
        self.options = (
            f"-k {place} -p {port} -c listen_addresses=127.0.0.1 -c fsync=off -c log_statement=all"
            " -c password_encryption=scram-sha-256 -c max_connections=60 -c shared_buffers=16MB"
        )
        self.opts: dict[str, object] = {"postgres.host": str(place), "postgres.port": port}

    def control(self, program: str, *argv: str) -> None:
        line = ["runuser", "-u", "postgres", "--", f"{BINARIES}/{program}", "-D", f"{self.place}/data", *argv]
        subprocess.run(line, check=True, cwd="/", stdout=subprocess.DEVNULL)

    def start(self) -> None:
        self.control("pg_ctl", "-w", "-l", str(self.log), "-o", self.options, "start")

    def kill(self) -> None:
        """As a crash: the server and its processes end at once, without a word to anyone."""
        pid = int((self.place / "data/postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)

    def start_after_crash(self) -> None:
        """As a service manager does it: again and again, while processes of the last one still end."""
        end = time.monotonic() + 60
        while True:
            try:
                return self.start()
            except subprocess.CalledProcessError:
                assert time.monotonic() < end, self.log.read_text()[-2000:]
                time.sleep(0.2)

    def psql(self, sql: str, *, db: str = "postgres", **env: str) -> str:
        """What the real psql says, by itself."""
        done = subprocess.run(
            ["psql", "-XAtq", "-w", "-v", "ON_ERROR_STOP=1"],
            input=sql,
            env={
                **os.environ,
                "PGHOST": str(self.place),
                "PGPORT": str(self.port),
                "PGUSER": "postgres",
                "PGDATABASE": db,
                **env,
            },
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.rstrip("\n")

    def lets_in(self, role: str, password: str) -> bool:
        """Whether the password is the right one, over the network."""
        try:
            return self.psql("SELECT 1", PGHOST="127.0.0.1", PGUSER=role, PGPASSWORD=password) == "1"
        except RuntimeError as problem:
            assert "password authentication failed" in str(problem)
            return False


@contextmanager
def running_server() -> Iterator[Server]:
    """A server that runs until the end of the block; skips the test if there is none to run."""
    if os.geteuid():
        pytest.skip("needs root")
    if BINARIES is None or shutil.which("psql") is None:
        pytest.skip("needs the packages postgresql and postgresql-client")
    place = Path(tempfile.mkdtemp(prefix="saltern-t-pg"))
    shutil.chown(place, "postgres", "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(place, port)
    local = "--auth-local=trust", "--auth-host=md5"
    server.control("initdb", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8", "-U", "postgres", *local)
    server.start()
    try:
        yield server
    finally:
        server.control("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(place)
