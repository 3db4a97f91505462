"""The states of a job on one system: what it returned, the worst first, with a link to the whole report."""

from __future__ import annotations

from typing import Any

from saltern.fleet.console.format import changed_lines, cut_lines
from saltern.fleet.console.row import Data, Visit
from saltern.fleet.console.views.command import as_action

WORDS = {"failed": "failed", "would change": "waiting", "changed": "changed"}
MOST_LINES, LONGEST = 60, 500  # of the changes of one state, and of one line
ORDER = ("failed", "would change", "changed", "succeeded", "skipped")


async def gather(visit: Visit) -> Data:
    """What a job returned from one system."""
    jid, system = visit.path["jid"], visit.path["system"]
    job = await visit.ask.get("/v1/jobs/{jid}", jid=jid)
    found = await visit.ask.get("/v1/jobs/{jid}/returns/{system}", jid=jid, system=system)
    rows = state_rows(found["body"])
    return {
        "job": job,
        "returned": found,
        "rows": rows,
        "jid": jid,
        "system": system,
        "counts": count_words(rows),
        "action": as_action(job["function"], job["args"]),
    }


def state_rows(body: object) -> list[Data]:
    """The states of a return, the worst first; empty for other returns. A return has Salt's form: each
    state under its tag, with ``result``, ``changes``, ``comment`` and ``duration``.
    """
    found = [_row(tag, one) for tag, one in _pairs(body) if isinstance(one, dict) and "result" in one]
    return sorted(found, key=lambda one: (ORDER.index(one["word"]), one["number"]))


def _pairs(body: object) -> list[tuple[str, Any]]:
    if not isinstance(body, dict):
        return []
    inner = next((one for one in body.values() if isinstance(one, dict)), {})
    is_wrapped = len(body) == 1 and any("_|-" in str(tag) for tag in inner)
    return [(str(tag), one) for tag, one in (inner if is_wrapped else body).items()]


def _row(tag: str, one: dict[str, Any]) -> Data:
    parts = tag.split("_|-")
    changes = one.get("changes") or {}
    return {
        "id": str(one.get("__id__") or (parts[1] if len(parts) > 1 else tag)),
        "function": f"{parts[0]}.{parts[-1]}" if len(parts) > 1 else "",
        "name": str(one.get("name", "")),
        "word": word_of(one.get("result"), bool(changes)),
        "comment": str(one.get("comment", "")),
        "changes": _lines(changes),
        "took": _seconds(one.get("duration")),
        "number": one.get("__run_num__", 0) if isinstance(one.get("__run_num__", 0), int) else 0,
    }  # fmt: skip


def _lines(changes: object) -> list[str]:
    """All changes of a state, a diff among them line by line."""
    pairs = changes.items() if isinstance(changes, dict) else ()
    found = [line[:LONGEST] for name, value in pairs for line in changed_lines({name: value})]
    return cut_lines(found, MOST_LINES)


def word_of(result: object, changed: bool) -> str:
    if result is False:
        return "failed"
    if result is None:
        return "would change"
    return "changed" if changed else "succeeded"


def _seconds(duration: object) -> float | None:
    return duration / 1000 if isinstance(duration, (int, float)) else None


def count_words(rows: list[Data]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in rows:
        found[one["word"]] = found.get(one["word"], 0) + 1
    return found
