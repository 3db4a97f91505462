"""``saltern fleet``: which systems are connected, which are away and since when, what runs, what failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from saltern.fleet.view.tables import Row, list_lines
from saltern.fleet.view.words import count, moment, names

RECENT = 5  # jobs that failed


def overview(systems: Sequence[Row], jobs: Sequence[Row], now: float, width: int = 0) -> Iterator[str]:
    """The lines of the overview. ``jobs``: recent jobs with their counts, the newest first."""
    members = [one for one in systems if one["state"] == "accepted"]
    gone = [one for one in members if not one["online"]]
    yield f"{count(len(members), 'system')}: {len(members) - len(gone)} here, {len(gone)} away"
    yield from _away(gone, now)
    if waiting := [one["id"] for one in systems if one["state"] == "pending"]:
        yield f"{count(len(waiting), 'key')} to decide on: {names(waiting)} (`saltern fleet keys`)"
    running = [one for one in jobs if one["ended"] is None]
    bad = [one for one in jobs if one["ended"] is not None and _failed(one)][:RECENT]
    for title, some in (("what runs", running), ("what failed", bad)):
        if some:
            yield from (
                "",
                f"{title}:",
                *(f"  {line}" for line in list_lines("jobs", some, now, width and width - 2)),
            )
    if not members and not systems:
        yield "`saltern fleet tokens new` makes a token, and `saltern agent join TOKEN` joins a system by it"


def _away(gone: Sequence[Row], now: float) -> Iterator[str]:
    since: dict[str, list[str]] = {}
    for one in sorted(gone, key=lambda one: (-(one["seen_at"] or 0), one["id"])):
        at = one["seen_at"]
        since.setdefault(f"away since {moment(at, now)}" if at else "never seen", []).append(one["id"])
    yield from (f"  {when}: {names(ids)}" for when, ids in since.items())


def _failed(job: Row) -> bool:
    counts = job.get("counts") or {}
    return any(counts.get(status) for status in ("failed", "refused", "indeterminate", "expired"))
