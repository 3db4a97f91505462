"""Run LVM's programs."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.programs import PLAIN_WORDS, tool
from saltern.system.process import Ran

# LVM warns of each inherited file descriptor, which does not help the user.
QUIET = {**PLAIN_WORDS, "LVM_SUPPRESS_FD_WARNINGS": "1"}


def lvm(ctx: Context, *argv: str, accept: tuple[int, ...] = (0,)) -> Ran:
    """Run a program. Raises ``Refused`` with its message, without warnings."""
    return tool(ctx, *argv, accept=accept, env=QUIET, install="the package lvm2", words=_without_warnings)


def _without_warnings(ran: Ran) -> str:
    lines = [line.strip() for line in ran.err.splitlines()]
    return " ".join([line for line in lines if line and not line.startswith("WARNING:")] or lines)
