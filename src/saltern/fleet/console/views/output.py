"""The output of a step on a system: its end, earlier lines, or the lines that contain a word."""

from __future__ import annotations

from saltern.fleet.console.row import Data, Visit
from saltern.fleet.console.views.runs import RUN

MOST_LINES = 1000
LONGEST_WORD = 200
AROUND = 2  # lines before and after a hit


async def gather_output(visit: Visit) -> Data:
    """What one step printed on one system: for the drawer of a run, and for a page that follows it."""
    leg = await visit.ask.get(f"{RUN}/legs/{{system}}", run=visit.path["run"], system=visit.path["system"])
    wanted = visit.query.get("step", "")
    steps = leg["steps"]
    step = next((one for one in steps if one["action"] == wanted), steps[0] if steps else None)
    return {"leg": leg, "step": step, "lines": await step_output(visit, leg, step)}


async def step_output(visit: Visit, leg: Data, step: Data | None) -> Data:
    """The output of an attempt of a step, by default the newest, as the address selects: its end, the lines
    before one, or the lines found; its comment, if no output is stored.
    """
    word, end = visit.query.get("find", "")[:LONGEST_WORD], whole(visit.query.get("before", ""))
    if step is None:
        return {**output_lines(""), "attempt": None}
    found = await visit.ask.get(
        f"{RUN}/legs/{{system}}/outputs", run=leg["run"], system=leg["system"], action=step["action"]
    )
    asked = next(
        (one for one in step["tries"] if one["number"] == whole(visit.query.get("attempt", ""))), None
    )
    number = asked["number"] if asked else max((one["attempt"] for one in found["items"]), default=0)
    texts = [one["text"].rstrip("\n") for one in found["items"] if one["attempt"] == number and one["text"]]
    text = "\n".join(texts) or (asked or step)["comment"]
    lines = found_lines(text, word) if word else output_lines(text, end=end)
    return {**lines, "attempt": asked["number"] if asked else None}


def whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def output_lines(text: str, most: int = MOST_LINES, *, end: int | None = None) -> Data:
    """The last lines of an output, or those before a line, numbered as in the whole."""
    lines = _lines(text)
    last = len(lines) if end is None else max(0, min(len(lines), end - 1))
    skipped = max(0, last - most)
    rows = list(enumerate(lines[skipped:last], skipped + 1))
    return {
        "skipped": skipped, "rows": rows, "total": len(lines), "later": len(lines) - last,
        "word": "", "hits": 0, "marked": frozenset(),
    }  # fmt: skip


def found_lines(text: str, word: str, most: int = MOST_LINES) -> Data:
    """The lines that contain a word, ignoring case, with those around them; counted over the whole output."""
    lines, wanted = _lines(text), word.casefold()
    hits = [number for number, line in enumerate(lines) if wanted in line.casefold()]
    near = sorted({n for hit in hits for n in range(hit - AROUND, hit + AROUND + 1) if 0 <= n < len(lines)})
    rows = [(number + 1, lines[number]) for number in near[:most]]
    marked = frozenset(hit + 1 for hit in hits)
    return {
        "skipped": 0, "rows": rows, "total": len(lines), "later": 0,
        "word": word, "hits": len(hits), "marked": marked,
    }  # fmt: skip


def _lines(text: str) -> list[str]:
    return text.rstrip("\n").split("\n") if text else []
