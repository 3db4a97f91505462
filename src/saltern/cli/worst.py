"""The exit code of a job on many systems: the worst of theirs, by the table ``ASCENDING``."""

from __future__ import annotations

from collections.abc import Iterable

from saltern.cli import exits

# From best to worst. A code that is not listed is worse than all.
ASCENDING: tuple[int, ...] = (
    exits.OK,
    exits.CHANGED,
    exits.AWAY,
    exits.REBOOTING,
    exits.FAILED,
    exits.PILLAR,
    exits.COMPILE,
    exits.SURROUNDINGS,
    exits.BUG,
    exits.INTERRUPTED,
)
# The exit code for a status that has none.
CODES: dict[str, int] = {
    "held": exits.AWAY,
    "queued": exits.AWAY,
    "sent": exits.AWAY,
    "running": exits.AWAY,
    "down": exits.REBOOTING,
    "expired": exits.AWAY,
    "refused": exits.SURROUNDINGS,
    "indeterminate": exits.FAILED,
    "cancelled": exits.INTERRUPTED,
}


def code_of(status: str, exit_code: int) -> int:
    """The exit code that one system counts as."""
    if status in CODES:
        return CODES[status]
    return exits.FAILED if status == "failed" and exit_code in (exits.OK, exits.CHANGED) else exit_code


def worst(codes: Iterable[int]) -> int:
    """The worst code; success if there are none."""
    return max(codes, key=_rank, default=exits.OK)


def _rank(code: int) -> tuple[int, int]:
    return (ASCENDING.index(code), 0) if code in ASCENDING else (len(ASCENDING), code)
