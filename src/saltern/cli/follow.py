"""Follow a job of the fleet to its end: while it runs, at Ctrl-C, and its final output."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, ValidationError, convert, field
from msgspec.structs import asdict

from saltern.cli import exits
from saltern.cli.watch import watcher_for
from saltern.cli.watcher import Watcher
from saltern.cli.worst import code_of, worst
from saltern.fleet.client.problems import ControllerError
from saltern.fleet.protocol.notices import AnyNotice, JobEnded, Missed, Progressed, Returned, StatusChanged
from saltern.fleet.view.board import (
    Board,
    Said,
    away_line,
    hear,
    mark_sent,
    new_board,
    say_failures,
    say_problem,
)
from saltern.fleet.view.format_names import GROUPED, SILENT
from saltern.fleet.view.words import count
from saltern.language.returner_names import split_failures
from saltern.report.outputs import options_for
from saltern.system.signals import end_in_order, was_terminated

if TYPE_CHECKING:
    from saltern.fleet.view.outcomes import Answered, Outcome

Row = Mapping[str, Any]
LEAVE, CANCEL, WATCH, KILL = "leave", "cancel", "watch", "kill"
ANSWERS = {"l": LEAVE, "c": CANCEL, "w": WATCH, "k": KILL}


class Jobs(Protocol):
    """What this module asks the controller about jobs."""

    def targets(self, jid: str) -> Iterator[Row]: ...
    def returns(self, jid: str) -> Iterator[Row]: ...
    def system_return(self, jid: str, system: str) -> Row: ...
    def cancel(self, jid: str, *, hard: bool = False) -> object: ...


class Controller(Protocol):
    """The part of the controller that following a job needs."""

    @property
    def jobs(self) -> Jobs: ...
    def follow(
        self, jid: str, *, after: int | None, on_break: Callable[[ControllerError], None]
    ) -> Iterator[Row]: ...


class Begun(Protocol):
    """The notices of the request that started a job."""

    on_break: Callable[[ControllerError], None]

    def notices(self) -> Iterator[Row]: ...
    def close(self) -> None: ...


class Shown(Struct, frozen=True, kw_only=True):
    """How the job is shown. ``patient``: also wait for systems that are away, until the job expires."""

    out: str = GROUPED
    colour: bool | None = None
    detailed: bool = False
    patient: bool = False
    layout: dict[str, Any] = field(default_factory=dict)


class Followed(Struct, kw_only=True):
    """The job: what is known of it, and the position in its notices. ``found_again``: how a person returns to
    the job, if not by `saltern job`. ``begun``: the notices of the request that started it, with what systems
    ``returned``; ``has_all``: all of that has come.
    """

    board: Board
    function: str
    cursor: int | None = None
    left_out: dict[str, float | None] = {}
    found_again: str = ""
    begun: Begun | None = None
    returned: dict[str, Row] = {}
    has_all: bool = False

    @property
    def jid(self) -> str:
        return self.board.jid


def new_followed(submitted: Row, ask: Row, begun: Begun | None = None) -> Followed:
    """A job that has just been submitted."""
    expected, away = submitted["expected"], submitted["away"]
    board = new_board(
        submitted["jid"],
        expected,
        away={id_: at for id_, at in away.items() if id_ in expected},
        expires=submitted["expires"],
        started=time.time(),
        test=bool(ask.get("test")) or ask["function"] == "saltern.plan",
        batch=ask.get("batch", ""),
    )
    mark_sent(board)
    left_out = {id_: at for id_, at in away.items() if id_ not in expected}
    return Followed(
        board=board,
        function=ask["function"],
        cursor=submitted.get("cursor") or None,
        left_out=left_out,
        begun=begun,
    )


def follow_job(controller: Controller, job: Followed, shown: Shown) -> int:
    """Follow a job to its end, print its result, and return the exit code."""
    end_in_order()
    with watcher_for(job.board, shown.out, shown.colour) as watcher:
        _begin(watcher, job)
        if not _watched(controller, job, shown, watcher):
            return exits.INTERRUPTED
    return print_job(controller.jobs, job, shown)


def show_away(job: Followed) -> None:
    """Name the systems that are away, for a command that does not follow the job."""
    for line in _away(job):
        print(f"saltern: {line}", file=sys.stderr)


def _away(job: Followed) -> list[str]:
    now = time.time()
    lines = (away_line(job.board, now), away_line(job.board, now, left_out=job.left_out))
    return [line for line in lines if line]


def _begin(watcher: Watcher, job: Followed) -> None:
    board = job.board
    batch = f", {board.batch} at a time" if board.batch else ""
    watcher.note(f"job {job.jid} on {count(len(board.rows), 'system')}{batch}")
    for line in _away(job):
        watcher.note(line)
    watcher.record(
        "submitted", jid=job.jid, expected=list(board.rows), away=board.away, expires=board.expires
    )


def _watched(controller: Controller, job: Followed, shown: Shown, watcher: Watcher) -> bool:
    """Follow the job; False if it was left running."""
    cancelled = False
    while True:
        try:
            _listen(controller, job, shown, watcher)
            return True
        except KeyboardInterrupt:
            if not job.board.open:
                watcher.note(_how_to_return(job))
                raise
            answer = LEAVE if was_terminated() else _ask(watcher, job, cancelled)
        except ControllerError:
            watcher.note(_how_to_return(job))
            raise
        if answer == LEAVE:
            watcher.note(_how_to_return(job))
            return False
        if answer in (CANCEL, KILL):
            cancelled = True
            controller.jobs.cancel(job.jid, hard=answer == KILL)
            watcher.note(
                "asked to end after the current state" if answer == CANCEL else "asked to end at once"
            )


def _how_to_return(job: Followed) -> str:
    """What is true of the job once it is no longer followed, and how a person sees it again."""
    if not job.board.open:
        shown = f"`saltern job {job.jid}` shows what it returned"
        return f"job {job.jid} has ended; {job.found_again or shown}"
    usual = f"`saltern job {job.jid} --follow` shows it, --cancel ends it"
    return f"job {job.jid} continues; {job.found_again or usual}"


def _ask(watcher: Watcher, job: Followed, cancelled: bool) -> str:
    more = ", [k]ill what runs" if cancelled else ""
    question = f"job {job.jid} runs: [l]eave it running, [c]ancel it{more}, or [w]atch on? "
    answers = ANSWERS if cancelled else {letter: word for letter, word in ANSWERS.items() if word != KILL}
    return watcher.ask(question, answers, without=LEAVE, again=WATCH)


def _listen(controller: Controller, job: Followed, shown: Shown, watcher: Watcher) -> None:
    """Process what the controller reports, until nothing is left to wait for."""
    jobs = controller.jobs
    if job.cursor is None:
        _look(jobs, job, watcher)
    if job.board.is_done(shown.patient):
        if job.begun is not None:
            job.begun.close()
        return
    with_returns = job.begun is not None
    for row in _notices(controller, job, watcher):
        notice = _read(row)
        if notice is None:
            continue
        job.cursor = notice.number or job.cursor
        if isinstance(notice, Missed):
            _look(jobs, job, watcher)
        elif isinstance(notice, Returned):
            job.returned[notice.system] = asdict(notice)
        elif isinstance(notice, JobEnded):
            job.has_all = 0 < notice.returns == len(job.returned)
        else:
            _take(jobs, job, notice, watcher)
        if job.board.is_done(shown.patient) and (job.board.open or not with_returns):
            return


def _notices(controller: Controller, job: Followed, watcher: Watcher) -> Iterator[Row]:
    begun, job.begun = job.begun, None
    if begun is None:
        return controller.follow(job.jid, after=job.cursor, on_break=watcher.broken)
    begun.on_break = watcher.broken
    return begun.notices()


def _read(row: Row) -> AnyNotice | None:
    """A notice; None for an unknown kind."""
    try:
        found: AnyNotice = convert(row, AnyNotice)
    except ValidationError:
        return None
    return found


def _look(jobs: Jobs, job: Followed, watcher: Watcher) -> None:
    """Fetch the current state, for notices that were missed."""
    for row in jobs.targets(job.jid):
        _take(jobs, job, _as_notice(row), watcher)
        if row.get("state"):
            _take(jobs, job, _as_progress(row), watcher)


def _as_progress(row: Row) -> Progressed:
    names = ("jid", "system", "done", "total", "state")
    return Progressed(at=row["updated"], **{name: row[name] for name in names})


def _as_notice(row: Row) -> StatusChanged:
    names = ("jid", "system", "status", "why", "exit_code", "changed", "failed", "back_by")
    return StatusChanged(at=row["updated"], **{name: row[name] for name in names})


def _take(jobs: Jobs, job: Followed, notice: AnyNotice, watcher: Watcher) -> None:
    system = getattr(notice, "system", "")
    before = job.board.rows[system].is_open if system in job.board.rows else False
    said = hear(job.board, notice, time.time())
    if said and _is_unheard(notice):
        said = _look_up(jobs, job, system) or said
    watcher.say(said)
    if not watcher.records or not system:
        return
    if before and not job.board.rows[system].is_open:
        watcher.record("return", **_return_line(jobs, job, system))
    elif before:
        watcher.record_notice(notice)


def _is_unheard(notice: AnyNotice) -> bool:
    """True if states failed without a report: a quick run ends before its progress is reported."""
    return (
        isinstance(notice, StatusChanged)
        and notice.status == "failed"
        and notice.failed > 0
        and not split_failures(notice.why)[0]
    )


def _look_up(jobs: Jobs, job: Followed, system: str) -> list[Said]:
    """The failures in the answer of a system."""
    from saltern.fleet.view.outcomes import Answered, outcome

    row = job.board.rows[system]
    body = jobs.system_return(job.jid, system).get("body")
    answered = Answered(system=system, status=row.status, exit_code=row.exit_code, body=body, has_body=True)
    found = outcome(job.function, answered)
    if found.kind == "problem":
        return say_problem(job.board, system, found.why)
    return say_failures(job.board, system, found.failures)


def _return_line(jobs: Jobs, job: Followed, system: str) -> dict[str, object]:
    """The line of one system for ``jsonl``."""
    from saltern.fleet.view.outcomes import strip_label

    row = job.board.rows[system]
    found: dict[str, object] = {"system": system, "status": row.status, "exit_code": row.exit_code}
    if row.status in ("returned", "failed"):
        found["return"] = strip_label(job.function, jobs.system_return(job.jid, system).get("body"))
    return {**found, "why": row.why} if row.why else found


# -- the end ---------------------------------------------------------------------------------------


def print_job(jobs: Jobs, job: Followed, shown: Shown) -> int:
    """Print the result in the requested format, and return the exit code."""
    rows = _rows_from_notices(job.board) or _rows_from_controller(jobs, job)
    code = exit_code(rows.values(), detailed=shown.detailed)
    if shown.out == "jsonl":
        watcher_for(job.board, "jsonl", None).record("finished", jid=job.jid, exit_code=code)
    if shown.out in SILENT:
        return code
    from saltern.fleet.view.formats import write

    layout = {name: value for name, value in shown.layout.items() if value is not None}
    options = options_for(sys.stdout, colour=shown.colour, **layout)
    write(shown.out, job.function, list(outcomes(jobs, job, rows)), sys.stdout, options)
    return code


def _rows_from_notices(board: Board) -> dict[str, Row]:
    """The systems by their notices; empty unless all have ended."""
    if not board.rows or board.open:
        return {}
    names = ("status", "why", "exit_code", "changed")
    return {
        id_: {"system": id_, **{name: getattr(row, name) for name in names}}
        for id_, row in board.rows.items()
    }


def _rows_from_controller(jobs: Jobs, job: Followed) -> dict[str, Row]:
    return {row["system"]: row for row in jobs.targets(job.jid) if row["system"] in job.board.rows}


def outcomes(jobs: Jobs, job: Followed, rows: Mapping[str, Row]) -> Iterator[Outcome]:
    """What every system of the job answered; systems without an answer come last."""
    from saltern.fleet.view.outcomes import outcome

    left = dict(rows)
    for row in job.returned.values() if job.has_all else jobs.returns(job.jid):
        if left.pop(row["system"], None) is None:
            continue
        yield outcome(job.function, _make_answered(row, body=row.get("body"), has_body=True))
    for row in left.values():
        yield outcome(job.function, _make_answered(row))


def _make_answered(row: Row, **body: Any) -> Answered:
    from saltern.fleet.view.outcomes import Answered

    return Answered(
        system=row["system"], status=row["status"], exit_code=row["exit_code"], why=row["why"], **body
    )


def exit_code(rows: Any, *, detailed: bool) -> int:
    """The worst code of all systems; ``detailed``: a change counts as worse than none."""
    codes = [code_of(row["status"], row["exit_code"]) for row in rows]
    if detailed and any(row["changed"] for row in rows):
        codes.append(exits.CHANGED)
    return worst(codes)
