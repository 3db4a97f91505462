"""Units of systemd that have failed."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.programs import PLAIN_WORDS

LIST = (
    "systemctl",
    "list-units",
    "--state=failed",
    "--plain",
    "--no-legend",
    "--no-pager",
    "--full",
    "--all",
)


def failed_units(ctx: Context) -> list[str]:
    """The names of failed units; none if systemd does not run."""
    ran = ctx.host.run(list(LIST), env=PLAIN_WORDS)
    return [] if ran.code else sorted(line.split()[0] for line in ran.out.splitlines() if line.strip())
