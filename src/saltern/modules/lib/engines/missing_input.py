"""What an engine was to run is not there."""

from __future__ import annotations

from saltern.language.result import Result, failed, would_change
from saltern.modules.api.context import Context


def absent(ctx: Context, what: str, place: str) -> Result:
    """In test mode a state before may be about to make it."""
    if ctx.test:
        reported = f"no {what} is at {place}; if a state before makes it, it would be run"
        return would_change(reported)
    return failed(f"no {what} is at {place}")
