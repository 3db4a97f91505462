"""The service ``mine``: a system publishes values, and reads those of others that it is allowed to."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol

import msgspec

from saltern.fleet.controller.calls import Calls
from saltern.fleet.protocol.messages import MESSAGES
from saltern.fleet.protocol.peer_messages import MineAnswer, MineRequest
from saltern.fleet.store.mine import MineRow, put_mine, read_mine, remove_mine
from saltern.fleet.store.systems import NOT_ACCEPTED, is_accepted, system
from saltern.language.diagnostics import CompileError, OperationError
from saltern.targeting.problem import BadTarget
from saltern.targeting.salt_types import compound_of

MOST = 200  # functions of one system
LARGEST = MESSAGES["mine-answer"].limit - 16 * 1024  # bytes of an answer


class Targets(Protocol):
    """The systems that a target matches."""

    async def resolve(self, target: str) -> list[str]: ...

    def match(self, target: str, systems: Collection[str]) -> list[str]: ...


class MineDesk:
    """Answers for one controller."""

    def __init__(self, calls: Calls, targets: Targets, *, now: Callable[[], float]) -> None:
        self._calls = calls
        self._targets = targets
        self._now = now

    async def answer(self, id_: str, request: MineRequest) -> MineAnswer:
        """Answer a system; the broker guarantees its id."""
        known = await self._calls.read(system, id_)
        if not is_accepted(known):
            return MineAnswer(problem=NOT_ACCEPTED)
        if request.store or request.clear or request.remove:
            return await self._store(id_, request)
        return await self._read(id_, request)

    async def _store(self, id_: str, request: MineRequest) -> MineAnswer:
        if len(request.store) > MOST or any(not 0 < len(name) <= 255 for name in request.store):
            return MineAnswer(
                problem=f"at most {MOST} functions can be published, with names of 255 characters"
            )
        if request.remove:
            await self._calls.write(remove_mine, id_, request.remove)
        if request.store or request.clear:
            allowed = {name: str(request.allowed.get(name) or "")[:8192] for name in request.store}
            values = request.store
            await self._calls.write(put_mine, id_, values, allowed, self._now(), clear=request.clear)
        return MineAnswer()

    async def _read(self, id_: str, request: MineRequest) -> MineAnswer:
        functions = request.functions or ([request.function] if request.function else [])
        if not functions:
            return MineAnswer(problem="no function is named")
        try:
            systems = await self._targets.resolve(compound_of(request.target, request.matcher))
        except BadTarget as problem:
            return MineAnswer(problem=problem.what)
        except OperationError as problem:
            return MineAnswer(problem=problem.diagnostics[0].what)
        rows = await self._calls.read(read_mine, systems, functions)
        data = self._shown_values(id_, rows, functions)
        if len(msgspec.json.encode(data)) > LARGEST:
            what = f"the values of these {len(systems)} systems are larger than {LARGEST:,} bytes"
            return MineAnswer(problem=f"{what}: ask for fewer systems, or for one function")
        return MineAnswer(data=data)

    def _shown_values(self, id_: str, rows: list[MineRow], functions: list[str]) -> dict[str, dict[str, Any]]:
        """The values by function and system that the requesting system may read."""
        found: dict[str, dict[str, Any]] = {function: {} for function in functions}
        for row in rows:
            if self._may_read(id_, row):
                found[row.function][row.system] = row.value
        return found

    def _may_read(self, id_: str, row: MineRow) -> bool:
        """True if the system may read it; a target that cannot be read allows none."""
        if not row.allowed or row.system == id_:
            return True
        try:
            return bool(self._targets.match(row.allowed, [id_]))
        except (BadTarget, CompileError, OperationError):
            return False
