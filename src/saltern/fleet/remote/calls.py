"""Calls through a controller: jobs by its API, each with a token by which it is found again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from saltern.fleet.client.client import Client
from saltern.fleet.client.problems import ControllerError, Unreachable
from saltern.fleet.remote.returns import away, return_of
from saltern.modules.api.orchestration import (
    CallRefused,
    Heard,
    NoSystems,
    RemoteCall,
    SystemReturn,
)

T = TypeVar("T")
Row = Mapping[str, Any]
PATIENCE = 600.0  # seconds to wait for a controller that is away
PAUSES = (0.1, 0.3, 1.0, 2.0, 5.0)
ANSWERED = frozenset({"returned", "failed"})
ENDS = frozenset({"returned", "failed", "refused", "cancelled", "expired", "indeterminate"})
EMPTY, ALL_AWAY = "fleet-target-empty", "fleet-all-away"


Connect = Callable[[], AbstractContextManager[Client]]


class RemoteCalls:
    """Jobs of one parent. ``connect`` is called for each request: callers may be separate processes."""

    def __init__(
        self,
        connect: Connect,
        parent: str,
        *,
        patience: float = PATIENCE,
        sent: Callable[[int], None] = lambda _: None,
        waits: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``sent`` is called with the cursor of the events of each new job, ``waits`` with the reason why a
        controller has not answered, once for each request that waits."""
        self._waits = waits
        self._connect = connect
        self._sent = sent
        self._parent = parent
        self._patience = patience

    def call(self, call: RemoteCall, token: str, heard: Heard) -> str:
        """Submit the job, or find it again; then report what each system returns."""
        submitted = self.ask(lambda client: _submit(client, call, token, self._parent))
        jid = str(submitted["jid"])
        if submitted["cursor"]:
            self._sent(int(submitted["cursor"]))
        for system in _left_out(submitted):
            heard(away(system))
        left = set(submitted["expected"])
        while left:
            self.ask(lambda client: self._hear(client, jid, call, left, heard))
        return jid

    def _hear(self, client: Client, jid: str, call: RemoteCall, left: set[str], heard: Heard) -> None:
        """Report the return of each system that is ``left`` once, as it comes."""
        for notice in client.follow(jid, patience=self._patience):
            rows = [notice] if notice["kind"] == "status" else []
            if notice["kind"] in ("missed", "ended"):
                rows = list(client.jobs.targets(jid))
            for row in rows:
                if row["status"] in ENDS and row["system"] in left:
                    heard(_return(client, call, row))
                    left.discard(row["system"])
            if not left:
                return

    def ask(self, work: Callable[[Client], T]) -> T:
        """Ask the controller, and wait if it is away. Raises ``NoSystems`` and ``CallRefused``."""
        since, tries = time.monotonic(), 0
        while True:
            try:
                with self._connect() as client:
                    return work(client)
            except Unreachable as problem:
                if time.monotonic() - since > self._patience:
                    raise CallRefused(_text(problem)) from None
                if not tries:
                    self._waits(_text(problem))
            except ControllerError as problem:
                if problem.status not in (502, 503, 504):
                    raise (NoSystems() if problem.code == EMPTY else CallRefused(_text(problem))) from None
            time.sleep(PAUSES[min(tries, len(PAUSES) - 1)] * random.uniform(0.5, 1.0))
            tries += 1


def _submit(client: Client, call: RemoteCall, token: str, parent: str) -> Row:
    target = call.target
    if call.subset:
        systems = client.systems.resolve(target)
        if not systems:
            raise NoSystems
        target = "L@" + ",".join(sorted(random.sample(systems, min(call.subset, len(systems)))))
    life = max(call.timeout, call.wait)
    options: dict[str, Any] = {
        "args": list(call.args),
        "kwargs": dict(call.kwargs),
        "test": call.test,
        "environment": call.environment,
        **({"parent": parent} if parent else {}),
        **({"life": max(life, 1.0)} if life else {}),
        **({"wait": 0} if not call.wait else {}),
        **({"batch": call.batch} if call.batch else {}),
        **({"batch_wait": call.batch_wait} if call.batch and call.batch_wait else {}),
        **({"batch_failures": call.batch_failures} if call.batch_failures else {}),
        **({"returners": list(call.returners)} if call.returners else {}),
        **({"return_options": dict(call.return_options)} if call.return_options else {}),
    }
    try:
        found = client.jobs.submit(call.function, target, client_token=token, **options)
        if found["known"] and not call.subset:  # the job does not list the systems that were left out
            found["away"] = dict.fromkeys(client.systems.resolve(target))
        return found
    except ControllerError as problem:
        if problem.code != ALL_AWAY:
            raise
        return {"jid": "", "expected": [], "away": dict.fromkeys(client.systems.resolve(target)), "cursor": 0}


def _left_out(submitted: Row) -> list[str]:
    """The systems of the target that do not get the job, because they are away."""
    return sorted(set(submitted["away"]) - set(submitted["expected"]))


def _return(client: Client, call: RemoteCall, row: Row) -> SystemReturn:
    """The return of a system, made from the row of its status."""
    known: Row = {"exit_code": 0, "why": "", **row}
    if row["status"] in ANSWERED:
        try:
            return return_of(
                call.function, client.jobs.system_return(row["jid"], row["system"]), has_body=True
            )
        except ControllerError as problem:
            if problem.status != 404:  # it failed before it had an answer
                raise
    return return_of(call.function, known, has_body=False)


def _text(problem: ControllerError) -> str:
    found = problem.diagnostics[0]
    return f"{found.what}; {found.fix}" if found.fix else found.what
