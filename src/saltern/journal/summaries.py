"""The runs of this machine, one line each, and which can be resumed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from saltern.journal.body import Body
from saltern.journal.run_state import RunState, asked_for

RESUMABLE = frozenset({"broken", "interrupted", "rebooting", "updating"})
UNKNOWN = frozenset({"damaged", "unreadable"})
MOST_RESUMED = 5  # how often a boot resumes the same run


class Summary(Struct, frozen=True, kw_only=True):
    """One line of ``saltern runs``."""

    jid: str
    status: str
    started: float = 0.0
    took: float = 0.0
    asked: str = ""
    done: int = 0
    failed: int = 0
    changed: int = 0
    resumed: int = 0
    by_user: bool = False  # interrupted with Ctrl-C


def last_resumable(runs: Iterable[Summary]) -> str | None:
    """The newest resumable run; if there is none and the newest cannot be read, that run, so that the problem
    is reported. ``runs`` are the newest first."""
    last = None
    for at, one in enumerate(runs):
        if one.status in RESUMABLE:
            return one.jid
        if at == 0 and one.status in UNKNOWN:
            last = one.jid
    return last


def resumed_at_boot(runs: Iterable[Summary]) -> list[str]:
    """The runs that a boot resumes, in their order; ``runs`` are the newest first.

    Excludes runs that a user stopped, that break repeatedly, and whose request was made again since,
    with newer files.
    """
    found: list[str] = []
    seen: set[str] = set()
    for at, one in enumerate(runs):
        if one.status in RESUMABLE and one.asked not in seen:
            found += [one.jid] if not one.by_user and one.resumed < MOST_RESUMED else []
        elif at == 0 and one.status in UNKNOWN:
            found.append(one.jid)  # it may be resumable, so the problem is reported
        seen.add(one.asked)
    return found[::-1]


def summary(
    jid: str, state: RunState, *, running: bool = False, started: float = 0.0, asked: str = ""
) -> Summary:
    """``started`` and ``asked`` are used if the journal does not have them."""
    answers, request = list(_answers(state)), state.head.get("request")
    failed = sum(answer["result"]["outcome"] is False for answer in answers)
    status = "running" if running and state.end is None else state.status
    return Summary(
        jid=jid,
        status="abandoned" if status == "failed" and not failed else status,
        started=state.head.get("started", started),
        took=(state.end or {}).get("took", 0.0),
        asked=asked_for(request) if request else asked,
        done=len(answers),
        failed=failed,
        changed=sum(bool(answer["result"]["changes"]) for answer in answers),
        resumed=state.resumed,
        by_user=state.end is not None and state.end["stopped"] == "interrupted",
    )


def _answers(state: RunState) -> Iterator[Body]:
    """All answers of a run, as in its report: states, placeholders of frames, listeners, sub states."""
    for scope in state.scopes.values():
        for records in (scope.done, scope.stand_ins, scope.listened):
            yield from (body["answer"] for body in records.values())
    for steps in (state.steps, state.tried):
        yield from (body for bodies in steps.values() for body in bodies)
