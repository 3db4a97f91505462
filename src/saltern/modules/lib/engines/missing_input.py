"""Results for missing input of an engine."""

from __future__ import annotations

from saltern.language.result import Result, failed, would_change
from saltern.modules.api.context import Context


def absent(ctx: Context, what: str, place: str) -> Result:
    """The result if ``what`` does not exist; in test mode an earlier state may create it."""
    if ctx.test:
        reported = f"no {what} is at {place}; it would be run if an earlier state creates it"
        return would_change(reported)
    return failed(f"no {what} is at {place}")
