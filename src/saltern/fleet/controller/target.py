"""Targets: Salt's compound language, and ``@group`` for groups of the fleet. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.targeting.compound import Every, Node, Not, Some, Term, parse
from saltern.targeting.lists import spelled_list
from saltern.targeting.match import BadTarget

_GROUP = re.compile(r"@([^\s@]+)")
_DEEPEST = 20
NEEDS_PILLAR = frozenset({"pillar", "pillar_pcre", "pillar_exact"})


def expand(target: str, groups: Mapping[str, str], within: tuple[str, ...] = ()) -> str:
    """The target with lists of names spelled out, and each ``@group`` replaced by its target."""
    spelled = spelled_list(target.strip())
    return " ".join(_word(word, groups, within) for word in spelled.split())


def _word(word: str, groups: Mapping[str, str], within: tuple[str, ...]) -> str:
    found = _GROUP.fullmatch(word)
    if found is None:
        return word
    name = found[1]
    if name not in groups:
        fix = did_you_mean(name, groups) or "saltern fleet groups lists them"
        raise BadTarget(f"no group is called {name!r}", fix)
    if name in within or len(within) >= _DEEPEST:
        raise BadTarget(f"groups contain each other: {' -> '.join((*within, name))}")
    return f"( {expand(groups[name], groups, (*within, name))} )"


def check_known(node: Node) -> None:
    """Refuse what only a system itself can evaluate: the controller must know which systems should answer."""
    for term in terms(node):
        if term.how in NEEDS_PILLAR:
            what = f"the target {term.pattern!r} asks for pillar, which targets of a fleet cannot see"
            raise BadTarget(what, "use grains (G@), ids, or a group")


def is_local(target: str) -> bool:
    """True if only this controller can evaluate the target: its nodegroups are not known elsewhere."""
    return any(term.how == "nodegroup" for term in terms(parse(target)))


def terms(node: Node) -> Iterable[Term]:
    match node:
        case Term():
            yield node
        case Not(inner):
            yield from terms(inner)
        case Every(parts) | Some(parts):
            for part in parts:
                yield from terms(part)


def refuse(problem: BadTarget) -> OperationError:
    """The error for a target that cannot be read."""
    return OperationError(Diagnostic(code="fleet-target", what=problem.what, fix=problem.fix))


NONE_ACCEPTED = (
    "no system is accepted: one joins by saltern agent join; saltern fleet keys lists those that wait, and"
    " those whose key was revoked"
)
DECIDE = {"pending": "accept", "rejected": "accept", "revoked": "restore"}  # what lets a system in again


def refuse_empty(target: str, ids: list[str], state: str = "") -> OperationError:
    """The error for a target that matches no accepted system, with the nearest name, if any. ``state``: that
    of a system with exactly this name.
    """
    if state in DECIDE:
        what = f"{target!r} takes no jobs: its key is {state}"
        fix = f"saltern fleet keys {DECIDE[state]} {target}"
        return OperationError(Diagnostic(code="fleet-target-empty", what=what, fix=fix))
    near = did_you_mean(target, ids)
    fix = near or ("saltern fleet lists the systems" if ids else NONE_ACCEPTED)
    what = f"no accepted system matches {target!r}"
    return OperationError(Diagnostic(code="fleet-target-empty", what=what, fix=fix))
