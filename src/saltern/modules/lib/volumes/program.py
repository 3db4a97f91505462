"""Running one of LVM's programs."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.programs import PLAIN_WORDS
from saltern.modules.api.refused import Refused
from saltern.system.process import NOT_FOUND, Ran

# LVM complains of every file that our parent process has left open, which cannot be helped here.
QUIET = {**PLAIN_WORDS, "LVM_SUPPRESS_FD_WARNINGS": "1"}


def lvm(ctx: Context, *argv: str, accept: tuple[int, ...] = (0,)) -> Ran:
    """Raises ``Refused`` with what the program says, its warnings aside."""
    ran = ctx.host.run(argv, env=QUIET, user=ctx.runas)
    if ran.code in accept:
        return ran
    if ran.code == NOT_FOUND and not ran.out:
        raise Refused(f"the program {argv[0]!r} is not on this machine; install the package lvm2")
    lines = [line.strip() for line in ran.err.splitlines()]
    said = [line for line in lines if line and not line.startswith("WARNING:")]
    raise Refused(f"{' '.join(argv)}: {' '.join(said or lines) or f'exit code {ran.code}'}")
