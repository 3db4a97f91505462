"""What may be behind a cause: what changed shortly before its first failure. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from saltern.fleet.console.format import span
from saltern.fleet.console.row import Data

SHORTLY = 3600.0  # seconds


def with_changes(causes: Data, trees: Sequence[Data]) -> Data:
    """The causes, each with the version of the files that was published last in the hour before it."""
    items = [{**one, "before": changed_before(one["since"], trees)} for one in causes["items"]]
    return {**causes, "items": items}


def changed_before(since: float | None, trees: Sequence[Data]) -> str:
    """``4 min after files 9f3c2a1 of base, by anna``; empty if nothing was published shortly before."""
    near = [one for one in trees if since and 0 <= since - one["at"] < SHORTLY]
    if not near or since is None:
        return ""
    one = max(near, key=lambda tree: float(tree["at"]))
    return (
        f"{span(since - one['at'])} after files {one['digest'][:7]} of {one['environment']}, by {one['by']}"
    )
