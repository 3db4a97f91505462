"""``git``: pillar files of branches of git repositories, with a top file each, as in Salt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from saltern.compat.pillars.ports import Asked, SourceError, words_of
from saltern.language.diagnostics import OperationError
from saltern.language.merge import merge
from saltern.sources.git.gitfs import SETTINGS, check_settings, interval_of, make_remote
from saltern.sources.git.remote import Remote
from saltern.sources.git.roots import GitRoots

ENV = "__env__"
PREFIX = "git_pillar_"
OWN = ("saltenv", "saltenv_blacklist", "saltenv_whitelist")  # only for gitfs
KNOWN = {name: doc for name, doc in SETTINGS.items() if name not in OWN} | {
    "branch": "the branch of an entry that consists only of an address",
    "env": "the environment of its top file",
}


class Entry(Struct, frozen=True, kw_only=True):
    """One entry: the environment of its top file, and the remotes to try: the second is a fallback."""

    env: str
    remotes: tuple[Remote, ...]
    interval: float | None


def git(asked: Asked, given: object) -> object:
    """``BRANCH URL``, or ``{BRANCH URL: [{root: …}, {env: …}, {mountpoint: …}]}``. Repositories of one
    environment see each other's files; one with a mount point only provides files for the others.
    """
    age = float(asked.opts.get("git_update_interval", 60))
    roots = GitRoots(asked.cache, max_age=age, commits=asked.commits)
    entries = [_entry(one, asked) for one in (given if isinstance(given, list) else [given])]
    found = [(one, _root(one, roots)) for one in entries]
    asked.warnings.extend(roots.warnings)
    asked.commits.update(roots.commits)
    asked_env = asked.opts.get("pillarenv")
    shares = asked.opts.get("git_pillar_includes") is not False
    made: dict[str, object] = {}
    for entry, root in found:
        if entry.remotes[0].mountpoint or (asked_env and entry.env != asked_env):
            continue
        others = [there for one, there in found if one.env == entry.env and there != root] if shares else []
        made = _merge_pillar(made, asked.compiled({entry.env: [root, *others]}), asked)
    return made


def _merge_pillar(base: dict[str, object], more: dict[str, object], asked: Asked) -> dict[str, object]:
    strategy = str(asked.opts.get("pillar_source_merging_strategy") or "smart")
    made = merge(base, more, strategy=strategy, merge_lists=bool(asked.opts.get("pillar_merge_lists")))
    assert isinstance(made, dict)
    return made


def _root(entry: Entry, roots: GitRoots) -> str:
    *others, last = entry.remotes
    for remote in others:
        try:
            return roots.root(remote, entry.interval)
        except OperationError as problem:
            if problem.diagnostics[0].code != "git-reference":
                raise
    return roots.root(last, entry.interval)


def _entry(entry: object, asked: Asked) -> Entry:
    text, words = entry, dict[str, Any]()
    if isinstance(entry, dict) and len(entry) == 1:
        ((text, own),) = entry.items()
        words = words_of(own)
    parts = str(text).split()
    if len(parts) not in (1, 2):
        raise SourceError("an entry has the form 'BRANCH URL'")
    check_settings(parts[-1], words, KNOWN)
    said = _usual(asked) | words
    branch = parts[0] if len(parts) == 2 else str(said.get("branch") or "master")
    if branch != ENV and "base" in words:
        raise SourceError("'base' of a remote counts only with the branch __env__")
    target, env = _target(branch, said, asked)
    refs = dict.fromkeys(ref for ref in (target, str(said.get("fallback") or "")) if ref)
    remotes = tuple(make_remote(parts[-1], said, ref) for ref in refs)
    return Entry(env=env, remotes=remotes, interval=interval_of(parts[-1], said))


def _usual(asked: Asked) -> dict[str, Any]:
    """The defaults from ``git_pillar_…`` in the configuration."""
    pairs = ((key.removeprefix(PREFIX), value) for key, value in asked.opts.items() if key.startswith(PREFIX))
    return {key: value for key, value in pairs if key in KNOWN and value not in (None, "")}


def _target(branch: str, said: Mapping[str, Any], asked: Asked) -> tuple[str, str]:
    """The branch to read, and the environment of its top file."""
    base = str(said.get("base") or "master")
    current = str(asked.opts.get("pillarenv") or asked.opts.get("saltenv") or "base")
    if branch == ENV and said.get("all_saltenvs"):
        return str(said["all_saltenvs"]), current
    target = branch if branch != ENV else base if current == "base" else current
    env = str(said.get("env") or ("base" if target == base else target))
    return target, current if env == ENV else env
