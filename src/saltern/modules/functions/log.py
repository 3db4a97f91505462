"""``log``: write a line to the log from a template."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import Function, make_docstring


def _at(level: str) -> Function[[str], bool]:
    def write(ctx: Context, message: str) -> bool:  # noqa: ARG001
        import logging

        getattr(logging.getLogger("saltern.modules.functions.log"), level)("%s", message)
        return True

    said = f"Write a line at the level ``{level}``."
    write.__doc__ = make_docstring(said, f"log.{level} 'the disk is nearly full'", "True")
    return Function(write, level)


debug = _at("debug")
info = _at("info")
warning = _at("warning")
error = _at("error")
critical = _at("critical")
exception = _at("exception")
