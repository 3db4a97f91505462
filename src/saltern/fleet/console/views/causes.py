"""Causes of several runs as one, and what changed shortly before the first failure. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from saltern.fleet.console.format import span
from saltern.fleet.console.row import Data

SHORTLY = 3600.0  # seconds
NAMED = 5  # systems of a cause that are named


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


def over_runs(items: Sequence[Data], most: int) -> Data:
    """Causes that differ only in their run as one, those of most systems first; each system is counted once.

    ``items`` have all their ``systems``.
    """
    groups: dict[tuple[str, str, str], list[Data]] = {}
    for one in items:
        groups.setdefault((one["step"], one["status"], one["pattern"]), []).append(one)
    found = sorted((_merge_group(group) for group in groups.values()), key=lambda one: -len(one["systems"]))
    rest = found[most:]
    return {
        "items": found[:most],
        "more": len(rest),
        "more_systems": len({system for one in rest for system in one["systems"]}),
        "systems": len({system for one in items for system in one["systems"]}),
        "runs": len({one["run"] for one in items}),
    }


def _merge_group(group: Sequence[Data]) -> Data:
    systems = list(dict.fromkeys(system for one in group for system in one["systems"]))
    runs = [{"run": one["run"], "chain": one["chain"], "waves": one["waves"]} for one in group]
    since = min((one["since"] for one in group if one["since"]), default=None)
    more = {"systems": systems, "count": len(systems), "some": systems[:NAMED], "runs": runs, "since": since}
    return {**max(group, key=lambda one: int(one["count"])), **more}
