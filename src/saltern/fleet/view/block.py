"""The lines at the bottom of a terminal while a job runs: one for each running system, then the counts.

Never more lines than fit, and each one column shorter than the terminal, so that none wraps.
"""

from __future__ import annotations

from saltern.fleet.view.board import UNSENT, Board, SystemRow
from saltern.fleet.view.words import moment, span
from saltern.report.live import ASCII, BAR, MARKS
from saltern.report.text import columns, cut, safe_line

WIDEST_ID = 24
# The counts in the last line, in this order: statuses, and the word for them.
COUNTED: tuple[tuple[tuple[str, ...], str], ...] = (
    (("failed",), "failed"),
    (("refused",), "refused"),
    (("running", "sent"), "running"),
    (("down",), "down"),
    (UNSENT, "waiting"),
    (("expired",), "expired"),
    (("cancelled",), "cancelled"),
    (("indeterminate",), "unknown"),
)


def block(board: Board, now: float, *, width: int, height: int, plain: bool = False) -> list[str]:
    """The current lines at the bottom. ``plain``: the terminal has only ASCII."""
    marks = ASCII if plain else MARKS
    running = sorted(board.those("running", "down"), key=lambda one: (one.began, one.id))
    room = max(height - 2, 1) - 1  # the counts have a line of their own
    shown = running[: max(room - 1, 0)] if len(running) > room else running
    inset = min(max((columns(safe_line(one.id)) for one in shown), default=0), WIDEST_ID)
    lines = [_line(one, now, inset, marks["running"]) for one in shown]
    if (hidden := len(running) - len(shown)) and room:
        lines.append(f"{'...' if plain else '…'} and {hidden} more run")
    return [cut(line, width - 1) for line in (*lines, bar(board, now, width, marks))]


def _line(row: SystemRow, now: float, inset: int, mark: str) -> str:
    """``▸ web1  12/40  3.2 s  file.managed nginx.conf``."""
    id_ = cut(safe_line(row.id), WIDEST_ID)
    head = f"{mark} {id_}{' ' * max(inset - columns(id_), 0)}"
    if row.status == "down":
        back = f", back by {moment(row.back_by, now)}" if row.back_by else ""
        return f"{head}  down{back}"
    where = f"{row.done}/{row.total}  " if row.total else ""
    failed = f"{row.failed} failed  " if row.failed else ""
    return f"{head}  {where}{failed}{span(now - row.began)}  {safe_line(row.state)}".rstrip()


def bar(board: Board, now: float, width: int, marks: dict[str, str]) -> str:
    """``████░░░░ 12/40 done, 1 failed, 25 running, 3 away  12 s``."""
    total = len(board.rows)
    done = total - len(board.open)
    filled = BAR * done // total if total else BAR
    drawn = [marks["done"] * filled + marks["left"] * (BAR - filled)] if width >= 60 else []
    return " ".join([*drawn, tally(board), f" {span(now - board.started)}"])


def tally(board: Board) -> str:
    """``12/40 done, 1 failed, 25 running, 3 away``."""
    done = len(board.rows) - len(board.open)
    parts = [f"{done}/{len(board.rows)} done"]
    gone = sum(one.id in board.away for one in board.those(*UNSENT))
    for statuses, word in COUNTED:
        number = len(board.those(*statuses)) - (gone if word == "waiting" else 0)
        parts += [f"{number} {word}"] if number else []
    return ", ".join([*parts, f"{gone} away"] if gone else parts)
