"""Which references of a remote are its branches and tags: Salt's ``refspecs``.

``+refs/heads/*:refs/remotes/origin/*`` makes branches of branches; with
``+refs/pull/*/head:refs/remotes/origin/pr/*`` a pull request is a branch ``pr/7``. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

Pairs = tuple[tuple[str, str], ...]
TARGETS = {"refs/remotes/origin/": "refs/heads/", "refs/heads/": "refs/heads/", "refs/tags/": "refs/tags/"}
USUAL: Pairs = (("refs/heads/*", "refs/heads/*"), ("refs/tags/*", "refs/tags/*"))


class Refs(Struct, frozen=True):
    """The references of a remote: commits by full name of a branch or tag, and the branch that is its head.

    ``sources`` has the remote's names of references that are renamed here.
    """

    commits: Mapping[str, str]
    head: str = ""
    sources: Mapping[str, str] = {}


def read_refspecs(given: Iterable[object]) -> Pairs:
    """Pairs of patterns, of the remote and of the mirror. Raises ``ValueError`` with an unsupported one."""
    found: list[tuple[str, str]] = []
    for one in given:
        source, mark, target = str(one).removeprefix("+").partition(":")
        kind = next((begin for begin in TARGETS if target.startswith(begin)), "")
        both = source.count("*") == target.count("*") <= 1
        if not (mark and kind and both and source.startswith("refs/")):
            raise ValueError(str(one))
        found.append((source, target.replace(kind, TARGETS[kind], 1)))
    return tuple(found)


def tracked_refs(listed: Mapping[str, str], head: str, specs: Pairs = USUAL) -> Refs:
    """The branches and tags for these references."""
    commits: dict[str, str] = {}
    sources: dict[str, str] = {}
    for name, commit in listed.items():
        for source, target in specs:
            here = _map_ref(name, source, target)
            if here:
                commits.setdefault(here, commit)
                if here != name:
                    sources.setdefault(here, name)
    return Refs(commits, head if head in commits else "", sources)


def _map_ref(name: str, source: str, target: str) -> str:
    before, star, after = source.partition("*")
    if not star:
        return target if name == source else ""
    fits = name.startswith(before) and name.endswith(after) and len(name) > len(before) + len(after)
    return target.replace("*", name[len(before) : len(name) - len(after)]) if fits else ""
