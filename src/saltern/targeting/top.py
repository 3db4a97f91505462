"""Top files → the SLS files for this machine, by saltenv, in order.

``STRATEGIES`` say how the top files of several environments are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from saltern.language.diagnostics import Diagnostics
from saltern.language.source import Mark, Path
from saltern.targeting.match import MATCHERS, Subject, matches
from saltern.targeting.problem import BadTarget


class TopDocument(Protocol):
    """A rendered top file."""

    @property
    def data(self) -> object: ...
    @property
    def file(self) -> str: ...
    def mark(self, path: Path = ()) -> Mark: ...


class Target(Struct, kw_only=True):
    """One line of a top file: the target, its matcher, and its SLS files (some from another environment)."""

    expression: str
    how: str = "compound"
    items: list[Item]
    where: TopDocument
    section: str
    order: int = 0  # pillar only: targets are merged by ascending order
    ignore_missing: bool = False  # pillar only: a missing SLS is left out


class Item(Struct, frozen=True):
    """An SLS of a target; ``env`` is empty for the section's own, ``at`` is its index in the list."""

    env: str
    sls: str
    at: int


class Assigned(Struct, frozen=True):
    """An SLS for this machine, and the line that assigns it."""

    env: str
    sls: str
    target: Target
    at: int

    def mark(self) -> Mark:
        return self.target.where.mark((self.target.section, self.target.expression, self.at))


Sections = dict[str, list[Target]]  # env → its targets


def parse_top(document: TopDocument, found: Diagnostics) -> Sections:
    """The sections of one top file; malformed parts are errors with their place."""
    data = document.data
    if data is None:
        return {}
    if not isinstance(data, dict):
        found.error("top-shape", "a top file is a mapping of environments", where=document.mark())
        return {}
    sections: Sections = {}
    for env, targets in data.items():
        if env == "include":
            continue
        if not isinstance(env, str) or not env or not isinstance(targets, dict):
            found.error(
                "top-shape",
                f"the environment {env!r} does not hold a mapping of targets",
                where=document.mark((str(env),)),
                fix="below the environment go targets such as '*', and below each a list of SLS",
            )
            continue
        sections[env] = [
            target
            for expression, items in targets.items()
            if (target := _target(env, expression, items, document, found)) is not None
        ]
    return sections


def includes(document: TopDocument, found: Diagnostics) -> list[str]:
    """The top files that this one includes."""
    data = document.data
    names = data.get("include", []) if isinstance(data, dict) else []
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return names
    found.error("include-shape", "include is not a list of names", where=document.mark(("include",)))
    return []


def _target(
    env: str, expression: object, items: object, document: TopDocument, found: Diagnostics
) -> Target | None:
    where = document.mark((env, str(expression))) if not isinstance(items, str | list) else None
    if isinstance(items, str):
        items = [items]  # documented by Salt, although Salt refuses it
    if not isinstance(items, list):
        found.error(
            "top-not-list",
            f"the target {expression!r} does not hold a list of SLS",
            where=where,
            fix="begin each SLS with '- '",
        )
        return None
    target = Target(expression=str(expression), items=[], where=document, section=env)
    for index, item in enumerate(items):
        if isinstance(item, str):
            target.items.append(Item("", item, index))
        elif isinstance(item, dict) and "ignore_missing" in item:
            target.ignore_missing = bool(item["ignore_missing"])
        elif isinstance(item, dict) and isinstance(item.get("order"), int):
            target.order = item["order"]
        elif isinstance(item, dict) and "match" in item:
            target.how = str(item["match"])
            if target.how not in MATCHERS:
                found.error(
                    "top-matcher",
                    f"no matcher is called {target.how!r}",
                    where=document.mark((env, target.expression, index)),
                    fix=f"there are {', '.join(MATCHERS)}",
                )
        elif isinstance(item, dict):
            target.items += [
                Item(str(other), sls, index) for other, sls in item.items() if isinstance(sls, str)
            ]
        else:
            found.error(
                "top-shape",
                f"{item!r} is not the name of an SLS",
                where=document.mark((env, target.expression, index)),
            )
    return target


def _merge(tops: Mapping[str, Sections], envs: Sequence[str], _default: str) -> Sections:
    """base decides every section that it has; the top file of another env decides its own, if base does
    not.
    """
    merged = dict(tops.get("base", {}))
    for env in envs:
        own = tops.get(env, {})
        if env not in merged and env in own:
            merged[env] = own[env]
    return merged


def _same(tops: Mapping[str, Sections], envs: Sequence[str], default: str) -> Sections:
    """Each env by its own top file alone; an env without one by that of the default env."""
    merged: Sections = {}
    for env in envs:
        source = tops[env] if env in tops else tops.get(default, {})
        if env in source:
            merged[env] = source[env]
    return merged


def _merge_all(tops: Mapping[str, Sections], envs: Sequence[str], _default: str) -> Sections:
    """All sections of all top files; a repeated target gets both lists."""
    merged: Sections = {}
    for env in envs:
        for section, targets in tops.get(env, {}).items():
            for target in targets:
                _join(merged.setdefault(section, []), target)
    return merged


def _join(known: list[Target], more: Target) -> None:
    for place, one in enumerate(known):
        if one.expression == more.expression:
            seen = {(item.env, item.sls) for item in one.items}
            both = [*one.items, *(item for item in more.items if (item.env, item.sls) not in seen)]
            known[place] = Target(
                expression=one.expression, how=more.how, items=both, where=one.where, section=one.section
            )
            return
    known.append(more)


STRATEGIES: dict[str, Callable[[Mapping[str, Sections], Sequence[str], str], Sections]] = {
    "merge": _merge,
    "same": _same,
    "merge_all": _merge_all,
}


def assign_targets(
    tops: Mapping[str, Sections],
    subject: Subject,
    envs: Sequence[str],
    found: Diagnostics,
    *,
    strategy: str = "merge",
    default_top: str = "base",
    only: str | None = None,
    known: Container[str] = (),
) -> dict[str, list[Assigned]]:
    """env → the SLS files for this machine, in the order of the top files.

    ``only``: use only this environment's section; a section of an environment that is not
    ``known`` is an error.
    """
    if strategy not in STRATEGIES:
        found.warn("top-strategy", f"top_file_merging_strategy: {strategy!r} is not known; 'merge' is used")
    merged = STRATEGIES.get(strategy, _merge)(tops, envs, default_top)
    result: dict[str, list[Assigned]] = {}
    for env, targets in merged.items():
        if only is not None and env != only:
            continue
        hit = [target for target in targets if _hits(target, subject, found)]
        if hit and env not in known:
            _unknown_env(env, hit[0], found)
            continue
        for target in sorted(hit, key=lambda target: target.order):
            result.setdefault(env, [])
            for item in target.items:
                if not item.env or item.env in envs:
                    place = item.env or env
                    result.setdefault(place, []).append(Assigned(place, item.sls, target, item.at))
    return result


def join_assignments(
    given: Mapping[str, list[Assigned]],
    more: Mapping[str, Sequence[str]],
    where: TopDocument,
    found: Diagnostics,
    *,
    first: bool = False,
    known: Container[str] = (),
) -> dict[str, list[Assigned]]:
    """What the top files assign, and ``more`` from elsewhere: after it, or ``first``. No duplicates."""
    result = dict(given)
    for env, names in more.items():
        items = [Item("", sls, index) for index, sls in enumerate(names)]
        target = Target(expression="*", items=items, where=where, section=env)
        if env not in known:
            _unknown_env(env, target, found)
            continue
        added = [Assigned(env, item.sls, target, item.at) for item in items]
        head, tail = (added, result.get(env, [])) if first else (result.get(env, []), added)
        have = {one.sls for one in head}
        result[env] = [*head, *(one for one in tail if one.sls not in have)]
    return result


def _unknown_env(env: str, target: Target, found: Diagnostics) -> None:
    found.error(
        "env-not-found",
        f"no saltenv is called {env!r}",
        where=target.where.mark((env,)),
        fix="name it in file_roots, or with --file-root ENV=DIR",
    )


def _hits(target: Target, subject: Subject, found: Diagnostics) -> bool:
    """True if the target matches; a malformed target matches no machine, as in Salt, and is reported."""
    try:
        return matches(subject, target.expression, target.how)
    except BadTarget as problem:
        where = target.where.mark((target.section, target.expression))
        for one in problem.diagnostics:
            found.warn("top-target", f"this target matches no machine: {one.what}", where=where, fix=one.fix)
        return False
