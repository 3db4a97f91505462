"""The log for operators: what saltern reads and does, on stderr, from the requested level on.

Above ``info`` nothing is written, and the standard library's logging is not imported. From ``info`` on,
messages that modules written for Salt log are written as well.
"""

from __future__ import annotations

from collections.abc import Callable

# By Salt's names.
LEVELS = {"info": 20, "profile": 15, "debug": 10, "trace": 5, "garbage": 1, "all": 0}
FORM = "%(asctime)s %(levelname)-8s %(name)s: %(message)s"
_lowest = 100  # nothing is written


def start(level: str, clean: Callable[[str], str] = str) -> None:
    """Log from this level on; ``clean`` removes secrets from a line."""
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
    """Log a line at the level info: a stage of a run."""
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
