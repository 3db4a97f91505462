"""``state``: orchestrations, and waiting for events."""

from __future__ import annotations

import fnmatch
import json
import sys
from collections.abc import Callable
from typing import Any

from saltern.fleet.runners.ports import Around, local_of, runner_problem


def orchestrate(
    around: Around,
    mods: object,
    saltenv: str | None = None,
    test: bool | None = None,
    exclude: object = None,
    pillar: dict[str, Any] | None = None,
    pillarenv: str | None = None,
    pillar_enc: object = None,  # noqa: ARG001
    orchestration_jid: str | None = None,  # noqa: ARG001
) -> dict[str, Any]:
    """Run an orchestration file."""
    if pillar is not None and not isinstance(pillar, dict):
        raise runner_problem("Pillar data must be formatted as a dictionary")
    names = mods if isinstance(mods, list) else [one.strip() for one in str(mods).split(",")]
    options = {
        "sls": [str(one) for one in names],
        "saltenv": saltenv,
        "test": test,
        "exclude": exclude,
        "pillar": pillar,
        "pillarenv": pillarenv,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return local_of(around, "state.orchestrate").orchestrate(given, around.token)


def event(
    around: Around,
    tagmatch: str = "*",
    count: int = -1,
    quiet: bool = False,
    sock_dir: object = None,  # noqa: ARG001
    pretty: bool = False,
    node: str = "master",  # noqa: ARG001
) -> None:
    """Wait for this number of events with matching tags, and print them."""
    left = int(count)
    for notice in around.ask.follow():
        tag = str(notice.get("tag", ""))
        if notice["kind"] != "event" or not fnmatch.fnmatchcase(tag, tagmatch):
            continue
        if not quiet:
            text = json.dumps(notice.get("data", {}), sort_keys=True, indent=4 if pretty else None)
            print(f"{tag}\t{text}", file=sys.stdout, flush=True)
        left -= 1
        if left == 0:
            return


RUNNERS: dict[str, Callable[..., object]] = {
    "state.orchestrate": orchestrate,
    "state.orch": orchestrate,
    "state.sls": orchestrate,
    "state.event": event,
}
