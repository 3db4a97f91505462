"""``saltern chain validate`` asks the systems themselves whether they know the packages of a chain."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saltern.chains.document import Action, Chain
    from saltern.fleet.client.client import Client

FUNCTION = "pkg.list_repo_pkgs"
PATIENCE = 60.0  # seconds for the answers; systems that have not answered by then are named
PAUSE = 0.2
Row = dict[str, Any]
Offers = Mapping[str, object]  # by the name of a package, its versions


def package_findings(client: Client, chain: Chain, target: str) -> list[Row]:
    """Report packages that a system would have to install and that its package manager does not know."""
    every = (*chain.actions, *chain.finalizers)
    wanted = [(action, names) for action in every if (names := packages_of(action))]
    if not wanted:
        return []
    asked = sorted({name for _, names in wanted for name in names})
    expected, answers = _ask(client, target, asked)
    known = {system: offers for system, offers in answers.items() if offers is not None}
    found = [row for action, names in wanted for row in missing_packages(action, names, known)]
    unknown = {
        "packages were not looked up, because the query failed": answers.keys() - known.keys(),
        "packages were not looked up, because there was no answer": expected - answers.keys(),
    }
    for what, systems in unknown.items():
        if systems:
            found.append({"level": "warning", "what": what, "action": "", "systems": sorted(systems)})
    return found


def packages_of(action: Action) -> tuple[str, ...]:
    """The packages that an action installs, by their names."""
    if action.kind not in ("packages", "transaction"):
        return ()
    given = getattr(action.body, "install", None) or getattr(action.body, "latest", None) or ()
    return tuple(name for name in given if "${" not in name)


def missing_packages(action: Action, names: tuple[str, ...], known: Mapping[str, Offers]) -> list[Row]:
    """A finding for each package name that some of the action's systems do not know."""
    found: list[Row] = []
    for name in names:
        lacking = sorted(
            system for system, offers in known.items() if action.meant_for(system) and not offers.get(name)
        )
        if lacking:
            what = f"no repository there has the package {name!r}"
            found.append({"level": "error", "what": what, "action": action.id, "systems": lacking})
    return found


def _ask(client: Client, target: str, names: list[str]) -> tuple[set[str], dict[str, Offers | None]]:
    """The systems that were asked, and what those that answered in time know of each name; None: they could
    not find out."""
    job = client.jobs.submit(FUNCTION, target, args=names, wait=0)
    expected = {str(system) for system in (*job["expected"], *job["away"])}
    answers: dict[str, Offers | None] = {}
    end = time.monotonic() + PATIENCE
    while len(answers) < len(job["expected"]) and time.monotonic() < end:
        time.sleep(PAUSE)
        answers = {row["system"]: _offers(row) for row in client.jobs.returns(job["jid"])}
    return expected, answers


def _offers(row: Row) -> Offers | None:
    from saltern.fleet.view.outcomes import strip_label

    found = strip_label(FUNCTION, row["body"])
    return found if row["status"] == "returned" and isinstance(found, Mapping) else None
