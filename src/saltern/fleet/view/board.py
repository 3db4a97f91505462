"""A job on all its systems, folded from notices: who waits, who runs and where, who has ended and how.

``hear`` takes one notice and gives the lines that are worth a line of their own, at once and for good:
failures, refusals, systems that go down. A notice that is heard twice, late or out of order changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from saltern.fleet.protocol.notices import AnyNotice, JobEnded, Progressed, StatusChanged
from saltern.fleet.view.outcomes import Failure
from saltern.fleet.view.words import count, moment, names
from saltern.report.text import safe_line

OPEN = ("queued", "sent", "running", "down")
RANKS = {"queued": 0, "sent": 1, "running": 2, "down": 2}
GOOD = "returned"
SAME_SHOWN = 3  # equal failures that get a line at once; more of them are counted
FEW = 20  # systems: in a job for more, only what goes wrong has a line


class Place(Struct):
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
    reported: bool = False  # a failure of it had a line already

    @property
    def is_open(self) -> bool:
        return self.status in OPEN


class Said(Struct, frozen=True):
    """A line of news: its kind (``failed``, ``changed``, ``clean`` or ``down``), and the text."""

    kind: str
    text: str


class Board(Struct, kw_only=True):
    """The whole job. ``away`` has who was away when it was submitted, and since when."""

    jid: str
    places: dict[str, Place]
    away: dict[str, float | None] = {}
    expires: float = 0.0
    started: float = 0.0
    test: bool = False
    ended: bool = False
    failures: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def those(self, *statuses: str) -> list[Place]:
        return [place for place in self.places.values() if place.status in statuses]

    @property
    def open(self) -> list[Place]:
        return self.those(*OPEN)

    @property
    def waited_for(self) -> list[Place]:
        """Those that are open and not away: the job is with them, or comes to them at once."""
        return [one for one in self.open if not (one.id in self.away and one.status == "queued")]


def new_board(jid: str, expected: Iterable[str], **values: object) -> Board:
    return Board(jid=jid, places={id_: Place(id_) for id_ in sorted(expected)}, **values)  # type: ignore[arg-type]


def mark_sent(board: Board) -> None:
    """The job was just submitted: all that are not away have it."""
    for place in board.places.values():
        if place.id not in board.away:
            place.status = "sent"


def hear(board: Board, notice: AnyNotice, now: float) -> list[Said]:
    """Take a notice in; the lines that it is worth."""
    match notice:
        case StatusChanged() if notice.jid == board.jid and notice.system in board.places:
            return _status(board, board.places[notice.system], notice, now)
        case Progressed() if notice.jid == board.jid and notice.system in board.places:
            return _progress(board, board.places[notice.system], notice, now)
        case JobEnded() if notice.jid == board.jid:
            board.ended = True
    return []


def _progress(board: Board, place: Place, notice: Progressed, now: float) -> list[Said]:
    if not place.is_open:
        return []
    place.status = "running"
    place.began = place.began or now
    place.done, place.failed = max(place.done, notice.done), max(place.failed, notice.failed)
    place.total, place.state = max(place.total, notice.total), notice.state
    if notice.outcome != "failed":
        return []
    place.reported = True
    return _failure(board, place.id, notice.state, notice.comment)


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
    """The lines of failures in the answer of a system, of which no progress was heard."""
    found: list[Said] = []
    for one in failures:
        where = f" ({one.where})" if one.where else ""
        found += _failure(board, system, f"{one.function} {one.id}", f"{one.why}{where}")
    return found


def _status(board: Board, place: Place, notice: StatusChanged, now: float) -> list[Said]:
    if not _moves(place.status, notice.status):
        return []
    place.status, place.why, place.back_by = notice.status, notice.why, notice.back_by
    if notice.status not in ("queued", "sent"):
        place.began = place.began or now
    if place.is_open:
        return _down(place, now) if notice.status == "down" else []
    place.ended = now
    place.exit_code, place.changed = notice.exit_code, notice.changed
    place.failed = max(place.failed, notice.failed)
    return _ended(board, place)


def _moves(old: str, new: str) -> bool:
    """True if the status is news. What a system has reported itself is final."""
    if new == old or old in (GOOD, "failed", "refused"):
        return False
    if old in OPEN and new in OPEN:
        return RANKS[new] >= RANKS[old]
    return new not in OPEN


def _down(place: Place, now: float) -> list[Said]:
    back = f", back by {moment(place.back_by, now)}" if place.back_by else ""
    return [Said("down", safe_line(f"{place.id}: goes down{back}"))]


def _ended(board: Board, place: Place) -> list[Said]:
    if place.status == GOOD:
        return _well(board, place) if len(board.places) <= FEW else []
    if place.status == "failed" and place.reported:
        return []
    counted = place.status == "failed" and place.failed and not place.why
    what = f"{count(place.failed, 'state')} failed" if counted else place.status
    return _failure(board, place.id, what, place.why)


def _well(board: Board, place: Place) -> list[Said]:
    """Nothing is said of an answer that is a value: that is printed in the end."""
    verb = "would change" if board.test else "changed"
    if place.changed:
        return [Said("changed", safe_line(f"{place.id}: {count(place.changed, 'state')} {verb}"))]
    return [Said("clean", safe_line(f"{place.id}: unchanged"))] if place.total else []


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
    place = board.places.get(id_)
    return place is not None and place.status == "queued"
