"""An orchestration through a controller: its systems, its runners and its events."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from saltern.fleet.client.client import Client
from saltern.fleet.remote.calls import RemoteCalls
from saltern.fleet.remote.returns import sub_states
from saltern.fleet.runners.ports import Local
from saltern.fleet.runners.table import run_runner, run_wheel
from saltern.language.diagnostics import OperationError
from saltern.language.result import SubResult
from saltern.modules.api.orchestration import CallRefused, Heard, RemoteCall, RunnerReturn, SeenEvent
from saltern.report.from_salt import is_states

LONGEST = 800_000  # characters of a report that a controller accepts
LOOK = 0.5  # seconds between two reads of events


class Cursor(Protocol):
    """The number of the last event before the last job; it outlives this process."""

    def read(self) -> int: ...
    def write(self, number: int) -> None: ...


class ControllerFleet:
    """Implements ``modules.api.orchestration.Orchestration``.

    Each request makes its own connection, because states that run in parallel are separate processes.
    """

    def __init__(self, connect: Callable[[], Client], jid: str, local: Local, cursor: Cursor) -> None:
        self._connect = connect
        self._local = local
        self._cursor = cursor
        self._calls = RemoteCalls(connect, jid, sent=cursor.write, waits=_say_what_is_waited_for)
        self.jid = jid

    def call(self, call: RemoteCall, token: str, heard: Heard) -> str:
        """Run a function on systems to its end; return the number of the job."""
        return self._calls.call(call, f"{self.jid}/{token}", heard)

    def begin(
        self, sls: Sequence[str], system: str, *, test: bool, environment: str, parent: str | None
    ) -> bool:
        """Record the orchestration as a job. False if it was already cancelled."""
        options = {"test": test, "environment": environment, "parent": parent}
        began = self._calls.ask(
            lambda client: client.orchestrations.begin(self.jid, list(sls), system, **options)
        )
        if not began["known"]:
            self._cursor.write(int(began["cursor"]))
        return not began["cancelled"]

    def end(self, status: str, **fields: Any) -> None:
        """Report how it ended; a report that is too long is left out."""
        report = fields.get("report")
        if report is not None and len(json.dumps(report)) > LONGEST:
            fields["report"] = without_steps(report)
        self._calls.ask(lambda client: client.orchestrations.end(self.jid, status, **fields))

    def is_cancelled(self) -> bool:
        """True if it was cancelled."""
        with suppress(CallRefused):
            return bool(self._calls.ask(lambda client: client.jobs.get(self.jid)["cancelled_at"]))
        return False

    def runner(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object], token: str
    ) -> RunnerReturn:
        """Run a runner, in this process."""
        try:
            with self._connect() as client:
                value = run_runner(name, args, kwargs, client, jid=self.jid, token=token, local=self._local)
        except OperationError as problem:
            return failed_return(problem)
        return runner_return(value)

    def wheel(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> RunnerReturn:
        """Call a wheel function."""
        try:
            with self._connect() as client:
                return runner_return(run_wheel(name, args, kwargs, client))
        except OperationError as problem:
            return failed_return(problem)

    def events(self, tag: str) -> Iterator[SeenEvent | None]:
        """Events with matching tags, from the last job on; None when there are no more yet."""
        after = self._cursor.read()
        while not self.is_cancelled():
            page = self._calls.ask(partial(_page, tag=tag, after=after))
            for row in page["items"]:
                yield SeenEvent(tag=row["tag"], data={"id": row["system"], **row["data"]})
            after = int(page["cursor"])
            if not page["next"]:
                yield None
                time.sleep(LOOK)


def _say_what_is_waited_for(why: str) -> None:
    print(f"saltern: waits for the controller: {why}", file=sys.stderr)


def _page(client: Client, *, tag: str, after: int) -> Mapping[str, Any]:
    found: Mapping[str, Any] = client.session.get("/v1/events", after=str(after), tag=tag, limit=500)
    return found


def without_steps(report: Any) -> Any:
    """A report without its sub states and what the systems returned."""
    rows = report.get("local") if isinstance(report, Mapping) else None
    if not isinstance(rows, Mapping):
        return None
    kept = {tag: one for tag, one in rows.items() if isinstance(one, Mapping) and not one.get("__parent__")}
    short = {tag: {key: one[key] for key in one if key != "data"} for tag, one in kept.items()}
    return {"local": short} if len(json.dumps(short)) <= LONGEST else None


def runner_return(value: Any) -> RunnerReturn:
    """The return of a runner, interpreted as in Salt; an orchestration's states become sub states."""
    if not isinstance(value, Mapping):
        return RunnerReturn(value=value)
    is_ok = "Error" not in value and not value.get("retcode", 0)
    data = value.get("data")
    steps: tuple[SubResult, ...] = ()
    if value.get("outputter") == "highstate" and isinstance(data, Mapping):
        found = [sub_states(one) for one in data.values() if is_states(one)]
        steps = tuple(step for some in found for step in some)
    return RunnerReturn(value=value, is_ok=is_ok, jid=str(value.get("jid", "")), steps=steps)


def failed_return(problem: OperationError) -> RunnerReturn:
    found = problem.diagnostics[0]
    return RunnerReturn(value=f"{found.what}; {found.fix}" if found.fix else found.what, is_ok=False)
