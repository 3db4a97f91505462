"""Stored script: hostile text in every text column of every table, and in every text of its JSON, one by one.

Columns come from the schema: a new one is attacked too.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import Column, Float, LargeBinary, String, Table
from tests.fleet.api.kit import Running
from tests.fleet.console.everything import LEG, NAMES, RUN, add_everything, all_names, page_paths
from tests.fleet.console.kit import Browser, running_console
from tests.fleet.console.test_attacks import SCRIPT, check_text
from tests.fleet.store.statements import noted

from saltern.fleet.store.chain_outputs import put_outputs
from saltern.fleet.store.tables import METADATA

READER = "admin"
MORE = (
    f"/runs/{RUN}?rows=each",
    f"/runs/{RUN}/{LEG}?step=patch",
    f"/runs/{RUN}/{LEG}/output?step=patch",
    "/systems?t=web*",
    "/chains/built?target=*",
    "/calendar?target=*&chain=built",
    "/command?target=*&run=test.ping",
    "/admin?state=accepted",
    "/events?hours=720",
    "/meant?target=web*",
)
# What belongs together without a foreign key: a column of this name holds the key of that table.
KEYS = {"system": "systems", "run": "chain_runs", "jid": "jobs", "leg": "chain_legs", "chain": "chains"}
# A page may fail over these, because a controller checks them before it stores them.
NEVER_STORED = {
    "chain_plans.body", "chain_runs", "chain_steps.action", "credentials.digest", "jobs.work",
    "schedules.zone",
}  # fmt: skip
OUTPUT = {"leg": f"{RUN}.{LEG}", "step": 1, "attempt": 1, "stream": "stdout", "data": b"read this", "size": 9}
Change = Callable[[Any], Any]
Cells = list[tuple[Any, int]]


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("stored")) as running:
        add_everything(running)
        with running.database.write() as connection:
            put_outputs(connection, [{**OUTPUT, "cut": False}])
        with raw(running) as opened:
            kept = opened.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for (name,) in kept:  # they protect rows that are never changed
                opened.execute(f'DROP TRIGGER "{name}"')
            for table in METADATA.sorted_tables:
                add_row(opened, table)
        yield running


@pytest.fixture(scope="module")
def reader(console: Running) -> Browser:
    made = Browser(console)
    assert made.sign_in(READER).status == 303
    return made


@contextmanager
def raw(running: Running) -> Iterator[sqlite3.Connection]:
    """The database without its foreign keys."""
    connection = sqlite3.connect(str(running.database.engine.url.database), timeout=30)
    try:
        with connection:
            yield connection
    finally:
        connection.close()


def add_row(connection: sqlite3.Connection, table: Table) -> None:
    """A row for a table that has none."""
    if connection.execute(f'SELECT count(*) FROM "{table.name}"').fetchone()[0]:
        return
    row = {one.name: value_for(connection, one) for one in table.columns}
    names, marks = ", ".join(f'"{one}"' for one in row), ", ".join("?" * len(row))
    try:
        connection.execute(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})', [*row.values()])
    except sqlite3.IntegrityError as problem:
        assert "CHECK" in str(problem), problem


def value_for(connection: sqlite3.Connection, column: Column[Any]) -> Any:
    for key in column.foreign_keys:
        text = f'SELECT "{key.column.name}" FROM "{key.column.table.name}" LIMIT 1'
        return NAMES.get(column.name) or (connection.execute(text).fetchone() or ["x1"])[0]
    if isinstance(column.type, String):
        return NAMES.get(column.name, "x1")
    if isinstance(column.type, LargeBinary):
        return b"{}"
    if isinstance(column.type, Float):
        return 4e9 if column.name in ("expires", "until") else time.time()
    return 1


# -- what is attacked ---------------------------------------------------------------------------------------


def key_of(column: Column[Any]) -> str:
    """The table whose key a column holds; empty if it holds none."""
    if column.table.name in KEYS.values() and [*column.table.primary_key] == [column]:
        return str(column.table.name)
    return KEYS.get(column.name, "")


def families() -> dict[str, list[Column[Any]]]:
    """Columns that are changed together: each alone, or all that hold the same key."""
    found: dict[str, list[Column[Any]]] = {}
    for table in METADATA.sorted_tables:
        for one in table.columns:
            if isinstance(one.type, (String, LargeBinary)):
                found.setdefault(key_of(one) or str(one), []).append(one)
    return found


def hostile(value: str) -> str:
    return value if value == READER else SCRIPT + value


def leaf_paths(value: Any, path: str = "") -> set[str]:
    """Where texts are in JSON; the places of a list are one."""
    if isinstance(value, dict):
        return {f"{path}+"}.union(*(leaf_paths(one, f"{path}.{name}") for name, one in value.items()))
    if isinstance(value, list):
        return set[str]().union(*(leaf_paths(one, path) for one in value))
    return {path} if isinstance(value, str) else set()


def changed_leaf(value: Any, wanted: str, path: str = "") -> Any:
    """JSON with the texts at one place made hostile; ``+`` is a name that is added."""
    if isinstance(value, dict):
        more = {SCRIPT: SCRIPT} if wanted == f"{path}+" else {}
        return {name: changed_leaf(one, wanted, f"{path}.{name}") for name, one in value.items()} | more
    if isinstance(value, list):
        return [changed_leaf(one, wanted, path) for one in value]
    return hostile(value) if isinstance(value, str) and path == wanted else value


def read_json(value: Any) -> Any:
    """A list or an object; None if it is none."""
    try:
        found = json.loads(value)
    except (ValueError, TypeError):
        return None
    return found if isinstance(found, (list, dict)) else None


def changes(values: list[Any]) -> dict[str, Change]:
    """Every way in which the values of a column are made hostile."""
    documents = [one for value in values if (one := read_json(value)) is not None]
    if not documents:
        return {"": lambda value: hostile(value) if isinstance(value, str) else SCRIPT.encode() + value}

    def at(path: str) -> Change:
        def change(value: Any) -> Any:
            made = json.dumps(changed_leaf(json.loads(value), path))
            return made.encode() if isinstance(value, bytes) else made

        return change

    return {path: at(path) for path in sorted(set().union(*map(leaf_paths, documents)))}


@contextmanager
def attacked(running: Running, columns: list[Column[Any]], change: Change) -> Iterator[dict[Any, Any]]:
    """Change these columns in all their rows for a while; yields what became of which value.

    That is nothing where the database refuses it.
    """
    before = {one: cells(running, one) for one in columns}
    after = {one: [(change(value), row) for value, row in rows] for one, rows in before.items()}
    try:
        write(running, after)
    except sqlite3.IntegrityError as problem:
        assert "CHECK" in str(problem), (columns, problem)
        yield {}
        return
    try:
        pairs = (
            (old[0], new[0]) for one in columns for old, new in zip(before[one], after[one], strict=True)
        )
        yield {old: new for old, new in pairs if new != old}
    finally:
        write(running, before)


def cells(running: Running, column: Column[Any]) -> Cells:
    """The values of a column, and the rows they are in."""
    with raw(running) as connection:
        text = f'SELECT "{column.name}", rowid FROM "{column.table.name}" WHERE "{column.name}" IS NOT NULL'
        return connection.execute(text).fetchall()


def write(running: Running, columns: dict[Column[Any], Cells]) -> None:
    with raw(running) as connection:
        for one, values in columns.items():
            text = f'UPDATE "{one.table.name}" SET "{one.name}" = ? WHERE rowid = ?'
            connection.executemany(text, values)
            if (
                one.table.name == "facts" and one.name == "grains"
            ):  # read again only if their digest is another
                digest = sha256(b"".join(value for value, _ in values)).hexdigest()
                connection.execute("UPDATE facts SET digest = ?", (digest,))


# -- and seen -----------------------------------------------------------------------------------------------


def columns_read(running: Running, reader: Browser, paths: Iterable[str]) -> dict[str, set[Column[Any]]]:
    """The columns that each page is made from: a statement names them and their table."""
    columns = [one for table in METADATA.sorted_tables for one in table.columns]
    found: dict[str, set[Column[Any]]] = {}
    statements: set[str] = set()

    with noted(running.database, statements.add):
        for path in paths:
            statements.clear()
            assert reader.get(path).status == 200, path
            assert not any(re.search(r"SELECT (\w+\.)?\*", one) for one in statements), "names no columns"
            named = [set(re.findall(r"\w+", one)) for one in statements]
            found[path] = {
                one for one in columns if any({one.table.name, one.name} <= some for some in named)
            }
    return found


def test_no_stored_text_is_markup(console: Running, reader: Browser) -> None:
    names = all_names(console)
    read = columns_read(console, reader, [*page_paths(names), *MORE])
    seen, broken = set(), set()
    for family, columns in families().items():
        paths = [path for path, found in read.items() if not found.isdisjoint(columns)]
        values = [value for one in columns for value, _ in cells(console, one)]
        for place, change in changes(values).items():
            with attacked(console, columns, change) as became:
                other = {name: str(became.get(value, value)) for name, value in names.items()}
                for path in [*paths, *(page_paths(other) if other != names else ())] if became else ():
                    shown = reader.get(path)
                    check_text(shown.text, f"{path}, by {family}{place}")
                    seen |= {f"{family}{place}"} if "&lt;script&gt;alert(1)" in shown.text else set()
                    broken |= {family} if shown.status >= 500 else set()
    assert {"systems", "facts.grains+", "chain_steps.comment", "chain_outputs.data", "jobs.work.args"} <= seen
    assert len(seen) > 120, sorted(seen)
    assert broken <= NEVER_STORED, broken
