"""A job on all its systems, from its notices: which wait, which run and where, which have ended and how.

``hear`` takes one notice and returns the lines to print at once and for good: failures, refusals, systems
that go down. A notice that arrives twice, late or out of order changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from saltern.fleet.protocol.notices import AnyNotice, Progressed, StatusChanged
from saltern.fleet.view.words import count, moment, names
from saltern.language.returner_names import split_failures
from saltern.report.text import safe_line

if TYPE_CHECKING:
    from saltern.fleet.view.outcomes import Failure

OPEN = ("held", "queued", "sent", "running", "down")
RANKS = {"held": -1, "queued": 0, "sent": 1, "running": 2, "down": 2}
UNSENT = ("held", "queued")
GOOD = "returned"
SAME_SHOWN = 3  # equal failures that are printed at once; more of them are counted
FEW = 20  # systems: in a job for more, only problems have a line


class SystemRow(Struct):
    """One system of the job."""

    id: str
    status: str = "queued"
    why: str = ""
    done: int = 0
    total: int = 0
    state: str = ""
    failed: int = 0
    changed: int = 0
    exit_code: int = 0
    began: float = 0.0
    ended: float = 0.0
    back_by: float | None = None
    reported: bool = False  # a failure of it was already printed

    @property
    def is_open(self) -> bool:
        return self.status in OPEN


class Said(Struct, frozen=True):
    """A line of news: its kind (``failed``, ``changed``, ``clean`` or ``down``), and the text."""

    kind: str
    text: str


class Board(Struct, kw_only=True):
    """The whole job. ``away``: the systems that were away when it was submitted, and since when."""

    jid: str
    rows: dict[str, SystemRow]
    away: dict[str, float | None] = {}
    expires: float = 0.0
    started: float = 0.0
    test: bool = False
    batch: str = ""
    failures: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    order: list[SystemRow] = field(default_factory=list)
    looked: int = 0  # leading rows that needed no more waiting at the last check

    def __post_init__(self) -> None:
        self.order = [*self.rows.values()]

    def those(self, *statuses: str) -> list[SystemRow]:
        return [row for row in self.rows.values() if row.status in statuses]

    @property
    def open(self) -> list[SystemRow]:
        return self.those(*OPEN)

    def is_waited_for(self, row: SystemRow) -> bool:
        """True for a system that is open and not away: it has the job, or gets it at once."""
        return row.is_open and not (row.id in self.away and row.status in UNSENT)

    def is_done(self, patient: bool) -> bool:
        """True if nothing is left to wait for; ``patient``: also wait for systems that are away.

        Ended rows stay ended, so each row is skipped for good, and not checked again for every notice.
        """
        rows = self.order
        waits = _is_open if patient else self.is_waited_for
        while self.looked < len(rows) and not waits(rows[self.looked]):
            self.looked += 1
        if self.looked < len(rows):
            return False
        self.looked = 0  # one that was away may be back
        return not any(map(waits, rows))


def _is_open(row: SystemRow) -> bool:
    return row.is_open


def new_board(jid: str, expected: Iterable[str], **values: object) -> Board:
    return Board(jid=jid, rows={id_: SystemRow(id_) for id_ in sorted(expected)}, **values)  # type: ignore[arg-type]


def mark_sent(board: Board) -> None:
    """Mark the job as sent to all systems that are not away, except those that wait for their turn."""
    for row in board.rows.values():
        if board.batch:
            row.status = "held"
        elif row.id not in board.away:
            row.status = "sent"


def hear(board: Board, notice: AnyNotice, now: float) -> list[Said]:
    """Process a notice; return the lines to print."""
    match notice:
        case StatusChanged() if notice.jid == board.jid and notice.system in board.rows:
            return _status(board, board.rows[notice.system], notice, now)
        case Progressed() if notice.jid == board.jid and notice.system in board.rows:
            return _progress(board, board.rows[notice.system], notice, now)
    return []


def _progress(board: Board, row: SystemRow, notice: Progressed, now: float) -> list[Said]:
    if not row.is_open:
        return []
    row.status = "running"
    row.began = row.began or now
    row.done, row.failed = max(row.done, notice.done), max(row.failed, notice.failed)
    row.total, row.state = max(row.total, notice.total), notice.state
    if notice.outcome != "failed":
        return []
    row.reported = True
    return _failure(board, row.id, notice.state, notice.comment)


def _failure(board: Board, system: str, state: str, comment: str) -> list[Said]:
    """The line of a failure: the first few of equal ones are shown, all are counted."""
    systems = board.failures.setdefault((state, comment), [])
    if system in systems:
        return []
    systems.append(system)
    if len(systems) > SAME_SHOWN:
        return []
    why = " ".join(comment.strip().partition("\n")[0].split())
    return [Said("failed", safe_line(f"{system}: {state}" + (f" – {why}" if why else "")))]


def say_failures(board: Board, system: str, failures: Iterable[Failure]) -> list[Said]:
    """The lines for failures in the answer of a system that reported no progress."""
    found: list[Said] = []
    for one in failures:
        where = f" ({one.where})" if one.where else ""
        found += _failure(board, system, f"{one.function} {one.id}", f"{one.why}{where}")
    return found


def say_problem(board: Board, system: str, why: str) -> list[Said]:
    """The line for an answer that is a reason instead of states."""
    return _failure(board, system, "failed", why)


def _status(board: Board, row: SystemRow, notice: StatusChanged, now: float) -> list[Said]:
    if notice.status == "queued" and notice.why and row.status in ("queued", "sent"):
        return _mark_unreached(board, row, notice, now)
    if not _moves(row.status, notice.status):
        return []
    row.status, row.why, row.back_by = notice.status, notice.why, notice.back_by
    if notice.status not in (*UNSENT, "sent"):
        row.began = row.began or now
    if row.is_open:
        return _down(row, now) if notice.status == "down" else []
    row.ended = now
    row.exit_code, row.changed = notice.exit_code, notice.changed
    row.failed = max(row.failed, notice.failed)
    why, about = split_failures(row.why)
    return [*_mark_ended(board, row, why), *(Said("down", safe_line(f"{row.id}: {line}")) for line in about)]


def _mark_unreached(board: Board, row: SystemRow, notice: StatusChanged, now: float) -> list[Said]:
    """Mark a system as away: the job waits for it, but followers of the job do not."""
    known = row.id in board.away
    row.status, row.why = "queued", notice.why
    board.away = {**board.away, row.id: None}
    if known:
        return []
    return [Said("down", safe_line(f"{row.id}: {notice.why}; queued until {moment(board.expires, now)}"))]


def _moves(old: str, new: str) -> bool:
    """True if the status is new. A status reported by the system itself is final."""
    if new == old or old in (GOOD, "failed", "refused"):
        return False
    if old in OPEN and new in OPEN:
        return RANKS[new] >= RANKS[old]
    return new not in OPEN


def _down(row: SystemRow, now: float) -> list[Said]:
    back = f", back by {moment(row.back_by, now)}" if row.back_by else ""
    return [Said("down", safe_line(f"{row.id}: goes down{back}"))]


def _mark_ended(board: Board, row: SystemRow, why: str) -> list[Said]:
    if row.status == GOOD:
        return _well(board, row) if len(board.rows) <= FEW else []
    if row.status == "failed" and row.reported:
        return []
    counted = row.status == "failed" and row.failed and not why
    what = f"{count(row.failed, 'state')} failed" if counted else row.status
    return _failure(board, row.id, what, why)


def _well(board: Board, row: SystemRow) -> list[Said]:
    """The line for a success; empty for an answer that is a value, which is printed at the end."""
    verb = "would change" if board.test else "changed"
    if row.changed:
        return [Said("changed", safe_line(f"{row.id}: {count(row.changed, 'state')} {verb}"))]
    return [Said("clean", safe_line(f"{row.id}: unchanged"))] if row.total else []


def away_line(board: Board, now: float, *, left_out: Mapping[str, float | None] | None = None) -> str:
    """``3 away: web7 since 17:02; queued until 18:00, --wait 0 to leave them out``; empty if none is."""
    gone = (
        left_out
        if left_out is not None
        else {id_: at for id_, at in board.away.items() if _waits(board, id_)}
    )
    if not gone:
        return ""
    since: dict[str, list[str]] = {}
    for id_ in sorted(gone):
        at = gone[id_]
        since.setdefault(f"since {moment(at, now)}" if at else "never seen", []).append(id_)
    who = "; ".join(f"{names(ids)} {when}" for when, ids in since.items())
    if left_out is not None:
        return f"{len(gone)} away and left out: {who}"
    return f"{len(gone)} away: {who}; queued until {moment(board.expires, now)}, --wait 0 to leave them out"


def _waits(board: Board, id_: str) -> bool:
    row = board.rows.get(id_)
    return row is not None and row.status in UNSENT
