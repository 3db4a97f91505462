"""Writes the events of a run to the log."""

from __future__ import annotations

from saltern.language.events import (
    ChunkFinished,
    ChunkStarted,
    Event,
    Fired,
    FrameStarted,
    RunFinished,
    RunStarted,
)
from saltern.report.text import safe_line
from saltern.system import log


def write(event: Event) -> None:
    """Log an event as one line, or two at the level debug."""
    match event:
        case RunStarted():
            log.info("the run begins: %d states%s", event.total, ", test mode" if event.test else "")
        case ChunkStarted(chunk=chunk):
            log.debug("%s %s begins (%s)", chunk.function, safe_line(chunk.id), chunk.mark())
        case ChunkFinished(answer=answer):
            result = answer.result
            changed = ", changed" if result.changes else ""
            words = (answer.chunk.function, safe_line(answer.chunk.id), result.outcome.name.lower(), changed)
            log.info("%s %s: %s%s, %.1f ms", *words, answer.took * 1000)
            log.debug("%s", safe_line(result.comment))
            for line in result.trace.splitlines():
                log.debug("%s", safe_line(line))
        case FrameStarted(frame=frame):
            log.info("rendered late: %s", frame.path)
        case Fired():
            log.debug("event %s", safe_line(event.tag))
        case RunFinished():
            log.info("the run ends after %.1f s%s", event.took, f": {event.stopped}" if event.stopped else "")
        case _:
            pass
