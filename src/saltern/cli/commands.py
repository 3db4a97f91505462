"""Every command, one row each. Only the chosen one is imported and gets its parser built."""

from __future__ import annotations

from msgspec import Struct


class Command(Struct, frozen=True):
    """``code`` is ``module:parser:run``, below this package."""

    help: str
    code: str


COMMANDS: dict[str, Command] = {
    "apply": Command("apply states to this machine", "apply"),
    "show": Command("show what would be applied: high data, low data, order, top, pillar, grains …", "show"),
    "resume": Command("go on with a run that broke", "resume"),
    "runs": Command("list the runs of this machine", "runs"),
    "check": Command("compile everything without running it, and tell every problem", "check"),
    "single": Command("apply one state, without any file", "single"),
    "call": Command("call one execution function", "call"),
    "docs": Command("print what a module or a function does and takes", "docs"),
    "render": Command("render a file and print the result", "render"),
}
