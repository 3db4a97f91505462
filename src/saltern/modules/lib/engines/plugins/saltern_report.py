"""Report to saltern: one line of JSON on a stream that it reads, marked so that it is not logged."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = "\x1e"
STREAM = 1
LONGEST = 16384  # characters of one text; the whole is in the log, if the engine prints it
MOST = 500  # items of a list or mapping
DEEPEST = 8


def report(event: str, **values: Any) -> None:
    """Report an event with values of any kind, truncated for the report."""
    reported = {key: plain(value) for key, value in values.items()}
    line = MARK + json.dumps({"event": event, **reported}, separators=(",", ":")) + "\n"
    data = line.encode("ascii")
    try:
        while data:
            data = data[os.write(STREAM, data) :]
    except OSError:  # no reader is left; the run continues
        return


def plain(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return cut(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)  # JSON has neither infinity nor NaN
    if isinstance(value, bytes):
        return cut(value.decode("utf-8", "backslashreplace"))
    if depth >= DEEPEST:
        return "…"
    if isinstance(value, dict):
        return {str(key): plain(inner, depth + 1) for key, inner in list(value.items())[:MOST]}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner, depth + 1) for inner in list(value)[:MOST]]
    return cut(str(value))


def cut(text: str) -> str:
    if len(text) <= LONGEST:
        return str(text)
    half = LONGEST // 2
    return f"{text[:half]}\n… {len(text) - LONGEST} characters left out …\n{text[-half:]}"


def arguments(place: str) -> Any:
    """The arguments, from a private file: a command line is visible to all users."""
    with open(place, encoding="utf-8") as file:
        return json.load(file)
