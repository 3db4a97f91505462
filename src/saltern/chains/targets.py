"""Finds targets of actions that match no system: mistakes that would silently skip an action."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from saltern.chains.document import Chain
from saltern.language.patterns import is_pattern


def unmatched_actions(chain: Chain, systems: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Each action with a target that matches none of the systems: the given ones, or those of the chain.

    If the systems of the chain include a pattern, or it names none, its systems are not all known, and such a
    target is no mistake.
    """
    found: list[tuple[str, str]] = []
    for action in (*chain.actions, *chain.finalizers):
        if not action.targets:
            continue
        known = [one for one in systems or action.among if systems or not is_pattern(one)]
        if not systems and (not action.among or _is_open(action.targets, action.among)):
            known = []
        found += [(action.id, target) for target in action.targets if known and not _means(target, known)]
    return found


def _is_open(targets: Sequence[str], among: Sequence[str]) -> bool:
    """True if the systems of the chain are not all named."""
    return any(is_pattern(one) for one in among) and bool(targets)


def _means(target: str, systems: Sequence[str]) -> bool:
    return any(fnmatchcase(system, target) for system in systems)
