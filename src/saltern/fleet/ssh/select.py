"""Selects the hosts of a roster that a target matches: by id, by group, by grains once they are known."""

from __future__ import annotations

import re
from collections.abc import Mapping

from saltern.fleet.ssh.roster.host import Host, Roster
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.targeting.lists import is_name, parts_of, spelled_list
from saltern.targeting.match import Subject, matches
from saltern.targeting.problem import BadTarget

_GROUP = re.compile(r"(?<![^\s(])@([^\s()]+)")
ALL = "all"
Grains = Mapping[str, Mapping[str, object]]


def select(roster: Roster, target: str, grains: Grains | None = None) -> list[Host]:
    """The hosts that a target matches, in the order of the roster. Raises ``OperationError``."""
    expression = spelled_out(target, roster)
    known = grains or {}
    groups = {name: f"L@{','.join(members)}" for name, members in roster.groups.items()}
    try:
        return [host for host in roster.hosts.values() if matches(_subject(host, known, groups), expression)]
    except BadTarget as problem:
        raise OperationError(
            Diagnostic(code="bad-target", what=f"{target!r}: {problem.what}", fix=problem.fix)
        ) from None


def _subject(host: Host, grains: Grains, groups: Mapping[str, str]) -> Subject:
    found = {"id": host.id, **grains.get(host.id, {}), **host.grains}
    return Subject(id=host.id, grains=found, pillar=dict(host.pillar), nodegroups=groups)


def spelled_out(target: str, roster: Roster) -> str:
    """``@group`` and lists of names, in the words of the compound language."""

    def group(found: re.Match[str]) -> str:
        if found[1] == ALL and ALL not in roster.groups:
            return "*"  # of every inventory of Ansible
        if found[1] not in roster.groups:
            what = f"the roster has no group {found[1]!r}"
            fix = (
                did_you_mean(found[1], roster.groups)
                or f"groups: {', '.join(sorted(roster.groups)) or 'none'}"
            )
            raise OperationError(Diagnostic(code="no-group", what=what, fix=fix))
        return f"N@{found[1]}"

    return _GROUP.sub(group, spelled_list(target))


def unknown_names(target: str, roster: Roster) -> list[str]:
    """The names in a list that the roster does not have, each with the one that may be meant."""
    absent = [name for name in parts_of(target) if is_name(name) and name not in roster.hosts]
    guesses = [(name, did_you_mean(name, roster.hosts)) for name in absent]
    return [f"{name!r} ({guess})" if guess else repr(name) for name, guess in guesses]


def hint(target: str, roster: Roster) -> str:
    """A hint for a target that matches nothing: users of Ansible write plain group names, and ``all``."""
    if target in roster.groups:
        return f"it is a group: --on @{target}"
    return "all systems are --on '*'" if target == ALL else "saltern ssh roster lists them"
