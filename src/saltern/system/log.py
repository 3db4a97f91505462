"""The log, for operators: what saltern reads and does, on stderr, from the level that was asked for.

Above ``info`` nothing is written and the standard library's logging is not imported. From there on, what
modules written for Salt log is written as well.
"""

from __future__ import annotations

# By the names that Salt has for them.
LEVELS = {"info": 20, "profile": 15, "debug": 10, "trace": 5, "garbage": 1, "all": 0}
FORM = "%(asctime)s %(levelname)-8s %(name)s: %(message)s"
_lowest = 100  # nothing is written


def start(level: str) -> None:
    """Write everything from this level on."""
    import logging

    global _lowest
    _lowest = LEVELS[level]
    logging.addLevelName(LEVELS["trace"], "TRACE")
    logging.basicConfig(level=_lowest, format=FORM, force=True)  # to stderr


def info(message: str, *values: object) -> None:
    """One line for each boundary that a run passes."""
    if _lowest <= LEVELS["info"]:
        _write("info", message, values)


def debug(message: str, *values: object) -> None:
    """Why something happens."""
    if _lowest <= LEVELS["debug"]:
        _write("debug", message, values)


def _write(level: str, message: str, values: tuple[object, ...]) -> None:
    import logging

    logging.getLogger("saltern").log(LEVELS[level], message, *values)


def is_on(level: str) -> bool:
    return _lowest <= LEVELS[level]
