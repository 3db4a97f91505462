"""Append to the journal of a run that no process works on."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from saltern.journal.run_state import RunState
from saltern.journal.runs import Runs

Body = dict[str, Any]


def append_record(runs: Runs, jid: str, state: RunState, kind: str, body: Body) -> RunState:
    """Append a record, durable when this returns; return the new state of the journal."""
    with closing(runs.writer(jid, resumed_at=state.records)) as writer:
        writer.add(kind, body)
        writer.sync()
    return runs.state(jid)


def open_barriers(state: RunState, kind: str) -> list[Body]:
    """The barriers of a kind that are not crossed yet."""
    return [body for body in state.open_barriers if body["kind"] == kind]
