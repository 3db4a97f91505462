"""The log, for operators: what saltern reads and does, on stderr, from the level that was asked for.

Above ``info`` nothing is written and the standard library's logging is not imported. From there on, what
modules written for Salt log is written as well.
"""

from __future__ import annotations

from collections.abc import Callable

# By the names that Salt has for them.
LEVELS = {"info": 20, "profile": 15, "debug": 10, "trace": 5, "garbage": 1, "all": 0}
FORM = "%(asctime)s %(levelname)-8s %(name)s: %(message)s"
_lowest = 100  # nothing is written


def start(level: str, clean: Callable[[str], str] = str) -> None:
    """Log from this level on; ``clean`` removes from a line what may not be shown."""
    import logging

    class Clean(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return clean(super().format(record))

    global _lowest
    _lowest = LEVELS[level]
    logging.addLevelName(LEVELS["trace"], "TRACE")
    handler = logging.StreamHandler()  # to stderr
    handler.setFormatter(Clean(FORM))
    logging.basicConfig(level=_lowest, handlers=[handler], force=True)


def info(message: str, *values: object) -> None:
    """Log a line at the level info: a boundary that a run passes."""
    if _lowest <= LEVELS["info"]:
        _write("info", message, values)


def debug(message: str, *values: object) -> None:
    """Log a line at the level debug: why something happens."""
    if _lowest <= LEVELS["debug"]:
        _write("debug", message, values)


def _write(level: str, message: str, values: tuple[object, ...]) -> None:
    import logging

    logging.getLogger("saltern").log(LEVELS[level], message, *values)


def is_on(level: str) -> bool:
    return _lowest <= LEVELS[level]
