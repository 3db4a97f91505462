"""The systems that an expanded target matches, by an index of their facts. Pure.

The rule in one sentence: a part of the target is evaluated only for the systems that the parts before it
leave open, as in a loop over all systems; and a fact is matched once for each of its values, not for each
system.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

import msgspec

from saltern.fleet.controller.fact_index import MISSING, FactIndex
from saltern.fleet.controller.target import check_known
from saltern.targeting.compound import Every, Node, Not, Some, Term, parse
from saltern.targeting.match import MATCHERS, Subject

Ids = frozenset[str]
SubjectOf = Callable[[str], Subject]
NONE: Ids = frozenset()


def select_systems(target: str, among: Ids, index: FactIndex, subject: SubjectOf) -> Ids:
    """The systems of ``among`` that an expanded target matches. May raise ``BadTarget``."""
    if target == "*":
        return among
    node = parse(target)
    check_known(node)
    return _select(node, among, index, subject)


def _select(node: Node, among: Ids, index: FactIndex, subject: SubjectOf) -> Ids:
    if not among:
        return NONE
    match node:
        case Term():
            return CHOICES.get(node.how, _one_by_one)(node, among, index, subject)
        case Not(inner):
            return among - _select(inner, among, index, subject)
        case Every(parts):
            for part in parts:
                among = _select(part, among, index, subject)
            return among
        case Some(parts):
            rest = among
            for part in parts:
                rest -= _select(part, rest, index, subject)
            return among - rest


def _by_name(term: Term, among: Ids, _index: FactIndex, _subject: SubjectOf) -> Ids:
    fits = re.compile(translate(term.pattern)).match
    return frozenset(filter(fits, among))


def _select_listed(term: Term, among: Ids, _index: FactIndex, _subject: SubjectOf) -> Ids:
    return among.intersection(name.strip() for name in term.pattern.split(","))


def _by_fact(term: Term, among: Ids, index: FactIndex, subject: SubjectOf) -> Ids:
    """Match once for each value of the fact, with a system that has nothing else."""
    name, sign, _ = term.pattern.partition(term.delimiter)
    if not sign or name == "*":  # no value, which is refused; or any fact at all
        return _one_by_one(term, among, index, subject)
    found: list[Ids] = []
    is_whole = len(among) == len(index.facts)  # all that have facts: nothing has to be left out
    for value, members in index.members(name).items():
        own = members if is_whole else members & among
        if own:
            grains = {} if value == MISSING else {name: msgspec.json.decode(value)}
            one = Subject(id="", grains=grains)
            found += [own] if MATCHERS[term.how](one, term.pattern, term.delimiter) else []
    return found[0] if len(found) == 1 else NONE.union(*found)


def _one_by_one(term: Term, among: Ids, _index: FactIndex, subject: SubjectOf) -> Ids:
    matcher = MATCHERS[term.how]
    return frozenset(id_ for id_ in among if matcher(subject(id_), term.pattern, term.delimiter))


CHOICES: dict[str, Callable[[Term, Ids, FactIndex, SubjectOf], Ids]] = {
    "glob": _by_name,
    "list": _select_listed,
    "grain": _by_fact,
    "grain_pcre": _by_fact,
}
