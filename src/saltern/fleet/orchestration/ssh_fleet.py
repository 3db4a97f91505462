"""An orchestration without a controller: the hosts of a roster, over SSH, from the process that runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from saltern.fleet.client.client import Client
from saltern.fleet.orchestration.controller_fleet import failed_return, runner_return
from saltern.fleet.orchestration.local import child_jid
from saltern.fleet.remote.calls import ENDS
from saltern.fleet.remote.returns import return_of
from saltern.fleet.runners.ports import Local, runner_problem
from saltern.fleet.runners.table import run_runner
from saltern.fleet.ssh.controller import SshController
from saltern.language.diagnostics import OperationError
from saltern.modules.api.orchestration import (
    CallRefused,
    Heard,
    NoSystems,
    RemoteCall,
    RunnerReturn,
    SeenEvent,
)

NEEDED = "it needs a controller, and this orchestration runs over SSH"
NO_SYSTEMS = "no-systems"


class NoController:
    """Stands in for the client of a controller: every request is refused."""

    def __getattr__(self, name: str) -> object:
        raise runner_problem(NEEDED, "run it on a controller")


class SshFleet:
    """Implements ``fleet.orchestration.ports.Fleet``. ``begin_job`` makes the job of a call; a job of the
    same number that was begun before is found on the hosts again."""

    def __init__(self, jid: str, begin_job: Callable[[RemoteCall, str], SshController], local: Local) -> None:
        self.jid = jid
        self._begin_job = begin_job
        self._local = local

    def call(self, call: RemoteCall, token: str, heard: Heard) -> str:
        """Run a function on hosts to its end; return the number of the job."""
        jid = child_jid(self.jid, token)
        try:
            job = self._begin_job(call, jid)
        except OperationError as problem:
            if problem.diagnostics[0].code == NO_SYSTEMS:
                raise NoSystems from None
            raise CallRefused(problem.diagnostics[0].what) from None
        try:
            left = set(job.submit()["expected"])
            for notice in job.follow(jid, after=None, on_break=None):
                if notice["kind"] == "status" and notice["status"] in ENDS and notice["system"] in left:
                    left.discard(notice["system"])
                    row = job.system_return(jid, notice["system"])
                    heard(return_of(call.function, row, has_body=row["body"] is not None))
        finally:
            job.close()
        return jid

    def runner(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object], token: str
    ) -> RunnerReturn:
        """Run a runner that needs no controller."""
        try:
            ask = cast("Client", NoController())
            value = run_runner(name, args, kwargs, ask, jid=self.jid, token=token, local=self._local)
        except OperationError as problem:
            return failed_return(problem)
        return runner_return(value)

    def wheel(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> RunnerReturn:  # noqa: ARG002
        return RunnerReturn(value=f"{name}: {NEEDED}", is_ok=False)

    def events(self, tag: str) -> Iterator[SeenEvent | None]:
        raise CallRefused(f"events {tag!r} cannot be waited for: {NEEDED}; use 'retry' on a salt.function")

    def begin(self, *_what: object, **_options: object) -> bool:
        return True

    def end(self, status: str, **fields: Any) -> None:
        """Do nothing: there is no controller to report to."""

    def is_cancelled(self) -> bool:
        return False
