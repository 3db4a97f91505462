"""Answers made of the real types, for every test of a view."""

from __future__ import annotations

from typing import Protocol

import pytest
from msgspec import Struct

from saltern.language.chunk import Chunk
from saltern.language.events import Answer
from saltern.language.high import Declaration
from saltern.language.result import Outcome, Result
from saltern.language.source import Mark, Path, SlsRef

# 1 January 2024 was a Monday; noon UTC, so that no zone moves the day
NOON = 1_704_110_400.25


class File(Struct, frozen=True):
    """A file that knows one line."""

    file: str
    line: int = 14

    def mark(self, path: Path = ()) -> Mark:
        return Mark(self.file, self.line, 1)


class Make(Protocol):
    def __call__(
        self,
        id: str = "web",
        outcome: Outcome = Outcome.OK,
        comment: str = "fine",
        *,
        name: str = "",
        function: str = "file.managed",
        sls: str = "web",
        number: int = 0,
        took: float = 0.001,
        timed: bool = True,
        parallel: bool = False,
        changes: dict[str, object] | None = None,
        warnings: tuple[str, ...] = (),
        ran: bool = True,
        extra: dict[str, object] | None = None,
    ) -> Answer: ...


def make(
    id: str = "web",
    outcome: Outcome = Outcome.OK,
    comment: str = "fine",
    *,
    name: str = "",
    function: str = "file.managed",
    sls: str = "web",
    number: int = 0,
    took: float = 0.001,
    timed: bool = True,
    parallel: bool = False,
    changes: dict[str, object] | None = None,
    warnings: tuple[str, ...] = (),
    ran: bool = True,
    extra: dict[str, object] | None = None,
) -> Answer:
    state, _, fun = function.partition(".")
    declared = Declaration(
        id=id, state=state, key=function, items=[fun], ref=SlsRef("base", sls), origin=File(f"{sls}.sls")
    )
    chunk = Chunk(state=state, fun=fun, id=id, name=name or id, order=number, args={}, declared=declared)
    result = Result(
        outcome=outcome, comment=comment, changes=changes or {}, warnings=warnings, ran=ran, extra=extra or {}
    )
    return Answer(
        chunk=chunk, result=result, number=number, started=NOON, took=took, timed=timed, parallel=parallel
    )


@pytest.fixture(scope="session", name="make")
def _make() -> Make:
    return make
