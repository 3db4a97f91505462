"""What Salt's own code for databases makes of queries: one process of its library, asked line by line.

PostgreSQL is asked by Salt's driver, through psycopg, which has the names that Salt uses of its older
version. MySQL and SQLite, whose drivers left Salt, are asked through the class that all of them share.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SALT = Path(__file__).parents[2] / "build" / "salt"
PROGRAM = """
import json, sys
from contextlib import contextmanager
import psycopg
sys.modules["psycopg2"] = psycopg
from salt.pillar import postgres
from salt.pillar.sql_base import SqlBaseExtPillar

class Rows:
    "A cursor over rows that are given."
    def __init__(self, names, rows):
        self.description, self.rows = [(name,) for name in names], rows
    def execute(self, query, values): pass
    def fetchall(self): return [tuple(row) for row in self.rows]

class Other(SqlBaseExtPillar):
    @classmethod
    def _db_name(cls): return "other"
    @contextmanager
    def _get_cursor(self):
        connected = self.connect()
        try:
            yield connected.cursor()
        finally:
            connected.close()

class Given(Other):
    @contextmanager
    def _get_cursor(self): yield self.rows

def asked(kind, config, words):
    if kind == "postgres":
        postgres.__opts__ = {"postgres": config}
        one = postgres.POSTGRESExtPillar()
    elif kind == "rows":
        one = Given()
        one.rows = Rows(*config)
    else:
        one = Other()
        driver = __import__("pymysql" if kind == "mysql" else "sqlite3")
        one.connect = lambda: driver.connect(**config)
    args, named = ([], words) if isinstance(words, dict) else (words, {})
    return one.fetch("web1", {}, *args, **named)

for line in sys.stdin:
    try:
        answer = {"data": asked(*json.loads(line))}
    except Exception as problem:
        answer = {"problem": type(problem).__name__}
    print(json.dumps(answer), flush=True)
"""


class SaltRows:
    """``ask(kind, config, words)``: what Salt gives, or a mapping that names the exception."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, kind: str, config: object, words: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([kind, config, words]) + "\n")
        self._process.stdin.flush()
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found


@contextmanager
def salt_rows(*paths: str) -> Iterator[SaltRows]:
    """The process; ``paths`` are where it finds drivers."""
    env = {"PYTHONPATH": os.pathsep.join((str(SALT), *paths)), "PATH": "/usr/bin:/bin", "HOME": "/tmp"}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield SaltRows(process)
    finally:
        process.communicate(timeout=60)
