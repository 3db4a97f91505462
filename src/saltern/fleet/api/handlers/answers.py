"""The answers of a job, with equal answers grouped by the systems that gave them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from saltern.fleet.api.call import Call
from saltern.fleet.api.console_shapes import AnswerGroup, AnswersAnswer
from saltern.fleet.api.problems import unknown
from saltern.fleet.api.returns import inflate
from saltern.fleet.api.route import NoQuery
from saltern.fleet.protocol.codec import BadMessage, check_depth
from saltern.fleet.store import job_queries
from saltern.fleet.store.database import Connection
from saltern.fleet.store.job_queries import TargetRow

SOME, GROUPS, AT_ONCE = 12, 50, 500
LONGEST = 8_000  # characters of an answer
OVER = {"returned", "interrupted"}
ITSELF = b"\x00"  # stands for the system's own name while answers are compared


class _Answer(Struct):
    """A distinct answer: the first system that gave it, its bytes, and all systems that gave it."""

    row: TargetRow
    data: bytes
    systems: list[str]


async def group_answers(call: Call[NoQuery, None]) -> AnswersAnswer:
    """The answers of a job, with equal ones grouped, and the systems that have not answered."""
    found = await call.read(_group_answers, call.path["jid"])
    if found is None:
        raise unknown("job", call.path["jid"])
    return found


def _group_answers(connection: Connection, jid: str) -> AnswersAnswer | None:
    job = job_queries.job(connection, jid)
    if job is None:
        return None
    rows = job_queries.targets(connection, jid)
    groups = sorted(_different(connection, jid, rows), key=lambda one: (-len(one.systems), one.systems))
    shown = groups[:GROUPS]
    answered = sum(len(one.systems) for one in groups)
    has_answered = {system for one in groups for system in one.systems}
    missing = _missing_groups([row for row in rows if row.system not in has_answered])
    return AnswersAnswer(
        jid=jid,
        expected=job.expected,
        answered=answered,
        groups=[_group(one.row, one.systems, one.data) for one in shown],
        missing=missing,
        more=answered - sum(len(one.systems) for one in shown),
    )


def _different(connection: Connection, jid: str, rows: Sequence[TargetRow]) -> list[_Answer]:
    found: dict[bytes, _Answer] = {}
    for row, data in _with_bodies(connection, jid, rows):
        own = data.replace(row.system.encode(), ITSELF)
        key = hashlib.sha256(own + f"\n{row.status}\n{row.exit_code}\n{row.why}".encode()).digest()
        found.setdefault(key, _Answer(row, data, [])).systems.append(row.system)
    return [*found.values()]


def _with_bodies(
    connection: Connection, jid: str, rows: Sequence[TargetRow]
) -> Iterator[tuple[TargetRow, bytes]]:
    """Each system that has answered, with its body; if a body cannot be read, a text that says so."""
    over = [row for row in rows if row.ended is not None]
    for first in range(0, len(over), AT_ONCE):
        some = over[first : first + AT_ONCE]
        packed = job_queries.bodies(connection, jid, [row.system for row in some])
        for row in some:
            if row.system in packed:
                data, problem = inflate(*packed[row.system])
                yield row, msgspec.json.encode(problem) if problem else data


def _missing_groups(rows: Sequence[TargetRow]) -> list[AnswerGroup]:
    """The systems that have not answered, grouped by the reason."""
    found: dict[tuple[str, str], list[TargetRow]] = {}
    for row in rows:
        found.setdefault((row.status, row.why), []).append(row)
    ordered = sorted(found.values(), key=lambda own: -len(own))
    return [_group(own[0], [row.system for row in own], b"") for own in ordered[:GROUPS]]


def _group(row: TargetRow, systems: list[str], data: bytes) -> AnswerGroup:
    text = readable(data)
    return AnswerGroup(
        systems=len(systems),
        some=systems[:SOME],
        status=row.status,
        why=row.why,
        exit_code=row.exit_code,
        changed=row.changed,
        failed=row.failed,
        text=text[:LONGEST],
        lines=text.count("\n") + 1 if text else 0,
        cut=len(text) > LONGEST,
    )


def readable(data: bytes) -> str:
    """JSON in readable form: a text as it is, anything else as YAML."""
    if not data:
        return ""
    try:
        check_depth(data)
        value: Any = msgspec.json.decode(data)
    except (BadMessage, msgspec.DecodeError, UnicodeDecodeError):
        return data.decode(errors="replace")
    if isinstance(value, str):
        return value
    from saltern.report.yaml import dump

    if len(data) > 4 * LONGEST:
        return data.decode(errors="replace")
    return dump(value).removesuffix("...\n").rstrip("\n")
