"""The prediction of a test run for each state: created, changed, deleted, known only later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct, field

from saltern.language.events import Answer, Report, in_order
from saltern.language.nature import TAKE_AWAY, Natures
from saltern.language.result import Outcome, Result
from saltern.report.plain import plain

CREATE, CHANGE, DELETE, LATER, FAIL, KEEP = "create", "change", "delete", "later", "fail", "keep"


class Verb(Struct, frozen=True):
    """How a kind of change is shown: sign, colour, words in totals (plural, singular) and for one state."""

    sign: str
    colour: str
    total: str
    one: str
    words: str


VERBS: dict[str, Verb] = {
    CREATE: Verb("+", "green", "to create", "to create", "would be created"),
    CHANGE: Verb("~", "yellow", "to change", "to change", "would be changed"),
    DELETE: Verb("-", "red", "to delete", "to delete", "would be deleted"),
    LATER: Verb("?", "cyan", "known after apply", "known after apply", "was known only after apply"),
    FAIL: Verb("!", "bright red", "would fail", "would fail", "would fail"),
    KEEP: Verb(" ", "", "stay as they are", "stays as it is", "would stay as it is"),
}


class Foreseen(Struct, frozen=True, kw_only=True):
    """One state of a plan. ``path`` is its place in the run; ``sub``: a step of the state above it."""

    path: str
    tag: str
    kind: str
    function: str
    id: str
    name: str
    where: str
    comment: str = ""
    changes: dict[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    depth: int = 0
    sub: bool = False


def foreseen_rows(report: Report, natures: Natures) -> list[Foreseen]:
    """The answers of a test run as rows, in their order."""
    return [_one(answer, natures) for answer in in_order(report.answers)]


def count_kinds(rows: Iterable[Foreseen]) -> dict[str, int]:
    """The number of states of each kind; steps count with the state that they belong to."""
    totals = dict.fromkeys(VERBS, 0)
    for row in rows:
        if not row.sub:
            totals[row.kind] += 1
    return totals


def _one(answer: Answer, natures: Natures) -> Foreseen:
    chunk, result = answer.chunk, answer.result
    changes = plain(result.changes)
    assert isinstance(changes, dict)
    return Foreseen(
        path=answer.path,
        tag=chunk.tag,
        kind=kind_of(result, lambda: _removes(answer, natures)),
        function=chunk.function,
        id=chunk.id,
        name=str(chunk.name),
        where=str(chunk.mark()),
        comment=result.comment,
        changes=changes,
        warnings=result.warnings,
        depth=answer.depth,
        sub=answer.sub,
    )


def _removes(answer: Answer, natures: Natures) -> bool:
    """True if the state removes something; for a step of another engine, its name decides."""
    chunk = answer.chunk
    return chunk.fun in TAKE_AWAY if answer.sub else natures(chunk.state, chunk.fun).removes


def kind_of(result: Result, removes: Callable[[], bool]) -> str:
    """The kind of change that a result of a test run means; ``removes``: the state removes something."""
    if result.outcome is Outcome.FAILED:
        return FAIL
    if result.outcome is Outcome.WOULD_CHANGE and not result.ran:
        return LATER
    if result.outcome is Outcome.OK and not result.changes:
        return KEEP
    if result.changes.get("diff") == "New file" or result.data.get("exists") is False:
        return CREATE  # whatever else is reported
    signs = {sign for change in result.changes.items() for sign in (_sign(*change),)}
    if CREATE not in signs and removes():
        return DELETE
    return signs.pop() if len(signs) == 1 else CHANGE


def _sign(key: str, value: object) -> str:
    """The sign of one entry of the changes."""
    for fits, kind in _SIGNS:
        if fits(key, value):
            return kind
    return CHANGE


def _without(side: str) -> Callable[[str, object], bool]:
    """A function that is true for a pair of old and new value that is empty on this side."""

    def fits(_key: str, value: object) -> bool:
        return isinstance(value, Mapping) and set(value) == {"old", "new"} and value[side] in NOTHING

    return fits


NOTHING: tuple[object, ...] = (None, "", [], {}, "absent", False)
_SIGNS: tuple[tuple[Callable[[str, object], bool], str], ...] = (
    (lambda key, value: key == "new" and not isinstance(value, Mapping), CREATE),
    (lambda _, value: isinstance(value, Mapping) and list(value.values()) == ["new"], CREATE),
    (lambda key, _: key in ("removed", "deleted"), DELETE),
    (lambda _, value: isinstance(value, Mapping) and list(value.values()) == ["removed"], DELETE),
    (_without("old"), CREATE),
    (_without("new"), DELETE),
)
