"""Top files → which SLS belong to this machine, for each saltenv, in order.

``STRATEGIES`` say how the top files of several environments become one.
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
    """One line of a top file: who, how it is matched, and what they get (an SLS, or one from another env)."""

    expression: str
    how: str = "compound"
    items: list[tuple[str, str]]  # (env or "", sls)
    where: TopDocument
    section: str


Sections = dict[str, list[Target]]  # env → its targets


def parse_top(document: TopDocument, found: Diagnostics) -> Sections:
    """The sections of one top file; wrong shapes are errors with their place."""
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
                fix="below the environment stand targets such as '*', and below each a list of SLS",
            )
            continue
        sections[env] = [
            target
            for expression, items in targets.items()
            if (target := _target(env, expression, items, document, found)) is not None
        ]
    return sections


def includes(document: TopDocument) -> list[str]:
    """Further top files that this one names."""
    data = document.data
    names = data.get("include") if isinstance(data, dict) else None
    return [str(name) for name in names] if isinstance(names, list) else []


def _target(
    env: str, expression: object, items: object, document: TopDocument, found: Diagnostics
) -> Target | None:
    where = document.mark((env, str(expression))) if not isinstance(items, str | list) else None
    if isinstance(items, str):
        items = [items]  # documented for Salt, though Salt refuses it
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
            target.items.append(("", item))
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
            target.items += [(str(other), sls) for other, sls in item.items() if isinstance(sls, str)]
        else:
            found.error(
                "top-shape",
                f"{item!r} is not the name of an SLS",
                where=document.mark((env, target.expression, index)),
            )
    return target


def _merge(tops: Mapping[str, Sections], envs: Sequence[str], _default: str) -> Sections:
    """base decides for every section it has; another env's top only for its own, if base is silent."""
    merged = dict(tops.get("base", {}))
    for env in envs:
        own = tops.get(env, {})
        if env not in merged and env in own:
            merged[env] = own[env]
    return merged


def _same(tops: Mapping[str, Sections], envs: Sequence[str], default: str) -> Sections:
    """Every env by its own top alone; one without a top by the default env's."""
    merged: Sections = {}
    for env in envs:
        source = tops[env] if env in tops else tops.get(default, {})
        if env in source:
            merged[env] = source[env]
    return merged


def _merge_all(tops: Mapping[str, Sections], envs: Sequence[str], _default: str) -> Sections:
    """All sections of all tops; the same target twice gets both lists."""
    merged: Sections = {}
    for env in envs:
        for section, targets in tops.get(env, {}).items():
            for target in targets:
                _join(merged.setdefault(section, []), target)
    return merged


def _join(known: list[Target], more: Target) -> None:
    for place, one in enumerate(known):
        if one.expression == more.expression:
            both = list(dict.fromkeys([*one.items, *more.items]))
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


def assigned(
    tops: Mapping[str, Sections],
    subject: Subject,
    envs: Sequence[str],
    found: Diagnostics,
    *,
    strategy: str = "merge",
    default_top: str = "base",
    known: Container[str] | None = None,
) -> dict[str, list[str]]:
    """env → the SLS of this machine, in the order of the top file; ``known``: others are errors."""
    merged = STRATEGIES.get(strategy, _merge)(tops, envs, default_top)
    result: dict[str, list[str]] = {}
    for env, targets in merged.items():
        hit = [target for target in targets if _wanted(env, envs, known) and _hits(target, subject, found)]
        if hit and known is not None and env not in known:
            _unknown_env(env, hit[0], found)
            continue
        for target in hit:
            result.setdefault(env, [])
            for other, sls in target.items:
                result.setdefault(other or env, []).append(sls)
    order = {env: place for place, env in enumerate(envs)}
    return {env: result[env] for env in sorted(result, key=lambda env: order.get(env, len(order)))}


def _wanted(env: str, envs: Sequence[str], known: Container[str] | None) -> bool:
    """A section that exists but was not asked for is left alone; one that does not exist is told."""
    return env in envs or (known is not None and env not in known)


def _unknown_env(env: str, target: Target, found: Diagnostics) -> None:
    found.error(
        "env-not-found",
        f"no saltenv is called {env!r}",
        where=target.where.mark((env,)),
        fix="name it in file_roots, or with --file-root ENV=DIR",
    )


def _hits(target: Target, subject: Subject, found: Diagnostics) -> bool:
    """A target that cannot be read matches nobody, as in Salt, and is told."""
    try:
        return matches(subject, target.expression, target.how)
    except BadTarget as problem:
        where = target.where.mark((target.section, target.expression))
        for one in problem.diagnostics:
            found.warn("top-target", f"this target matches nobody: {one.what}", where=where, fix=one.fix)
        return False
