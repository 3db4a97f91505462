"""What can be ordered now, of a run, of a leg and of a job; what cannot, and why. Pure.

A page has the buttons of all orders. Those that make no sense now are out of sight; the stream then says
which are possible, on how many systems, and the page follows without being loaded again.
"""

from __future__ import annotations

from collections.abc import Sequence

from saltern.fleet.console.row import Data, Visit

ON, OFF, AWAY = "on", "off", "away"  # possible; not possible, with the reason; out of sight
BAD = ("failed", "cancelled", "expired", "indeterminate")
OVER = (*BAD, "succeeded", "succeeded with skips")
ENDS = ("succeeded", "partial", "failed", "cancelled", "expired")
PAST = "the past cannot be changed"
NOT_ALLOWED = "needs a rule of the policy that lets you order about runs and jobs: ask an admin"
WRONG = ("failed", "timed out", "indeterminate")  # steps that can be skipped, or said to be done


def run_offers(run: Data) -> list[Data]:
    """The orders about a whole run."""
    status, legs = run["status"], run["legs"]
    bad = sum(legs.get(one, 0) for one in BAD)
    unended = sum(number for one, number in legs.items() if one not in OVER)
    ended = f"the run has ended: {status}" if status in ENDS else ""
    stuck = ended or ("the run is being cancelled" if status == "cancelling" else "")
    return [
        _offer("retry", "" if bad else "no system has failed", count=bad),
        _offer("pause", stuck or _unless(status == "running", f"the run is {status}"), away=_rests(status)),
        _offer("resume", stuck, away=status != "paused"),
        _offer("resume-halted", stuck, away=status != "halted", why=run["why"]),
        _offer("cancel", stuck or _unless(bool(unended), "every system has ended"), count=unended),
    ]  # fmt: skip


def leg_offers(leg: Data, chosen: str = "") -> list[Data]:
    """The orders about one system of a run. ``chosen``: the step that the reader looks at."""
    status = leg["status"]
    wrong = [one["action"] for one in leg["steps"] if one["status"] in WRONG]
    ended = f"it has ended: {status}" if status in OVER else ""
    kept = "it is in quarantine: release it first" if leg["quarantined"] else ""
    other = f"only what failed or is paused can be retried; it is {status}"
    again = kept or _unless(status in (*BAD, "paused"), other)
    step = chosen if chosen in wrong else next(iter(wrong), "")
    past = again or _unless(bool(wrong), "no step has failed")
    return [
        _offer("retry", again, count=1),
        *(_offer(verb, past, count=1, action=step, steps="\n".join(wrong)) for verb in ("skip", "done")),
        _offer("release", _unless(leg["quarantined"], "it is not in quarantine"), count=1),
        _offer("unlock", ended, away=not leg["away"], count=1),
        _offer("pause", ended, away=status == "paused"),
        _offer("resume", ended, away=status != "paused"),
        _offer("cancel", ended, count=1),
    ]  # fmt: skip


def job_offers(job: Data) -> list[Data]:
    """The orders about a job."""
    return [_offer("stop", "" if job["open"] else "it has ended on every system", count=job["open"])]


def buttons(offers: Sequence[Data], visit: Visit, at: float | None = None) -> Data:
    """The buttons of a page by their order, as they are when it is loaded. ``at``: it shows that moment."""
    bar = PAST if at is not None else "" if visit.may("jobs.cancel") else NOT_ALLOWED
    return {
        one["order"]: {**one, "hidden": one["state"] != ON, "off": bar or one["why_not"], "barred": bool(bar)}
        for one in offers
    }


def _offer(order: str, why_not: str, *, away: bool = False, count: int | None = None, **fills: str) -> Data:
    state = AWAY if away else OFF if why_not else ON
    return {"order": order, "state": state, "why_not": why_not, "count": count, "fills": fills}


def _unless(is_so: bool, why: str) -> str:
    return "" if is_so else why


def _rests(status: str) -> bool:
    return status in ("paused", "halted")
