"""``git``: pillar files of branches of git repositories, with a top file each, as in Salt."""

from __future__ import annotations

from typing import Any

from saltern.compat.pillars.ports import Asked, SourceError, words_of
from saltern.language.merge import merge
from saltern.sources.git.gitfs import access_of, secrets_of
from saltern.sources.git.remote import Remote, checked, plain_url
from saltern.sources.git.roots import GitRoots

ENV = "__env__"


def git(asked: Asked, given: object) -> object:
    """``BRANCH URL``, or ``{BRANCH URL: [{root: …}, {env: …}, {mountpoint: …}]}``; all see each other."""
    interval = float(asked.opts.get("git_pillar_update_interval") or 60)
    remotes = GitRoots(asked.cache, max_age=interval)
    entries = [_entry(one, asked) for one in (given if isinstance(given, list) else [given])]
    roots = [(env, remotes.root(remote)) for env, remote in entries]
    shares = asked.opts.get("git_pillar_includes") is not False
    found: dict[str, object] = {}
    for env, root in roots:  # each has a top file of its own
        others = [one for _, one in roots if one != root] if shares else []
        made = merge(found, asked.compiled({env: [root, *others]}), strategy="smart", merge_lists=False)
        assert isinstance(made, dict)
        found = made
    return found


def _entry(entry: object, asked: Asked) -> tuple[str, Remote]:
    text, words = entry, dict[str, Any]()
    if isinstance(entry, dict) and len(entry) == 1:
        ((text, own),) = entry.items()
        words = words_of(own)
    usual = {
        key.removeprefix("git_pillar_"): value
        for key, value in asked.opts.items()
        if key.startswith("git_pillar_")
    }
    said = {**{key: value for key, value in usual.items() if value not in (None, "")}, **words}
    parts = str(text).split()
    if len(parts) not in (1, 2):
        raise SourceError("an entry has the form 'BRANCH URL'")
    branch, url = (parts[0], parts[1]) if len(parts) == 2 else (str(said.get("branch") or "master"), parts[0])
    base = str(words.get("base") or asked.opts.get("git_pillar_base") or "master")
    current = str(asked.opts.get("pillarenv") or asked.opts.get("saltenv") or "base")
    if branch == ENV:
        branch = base if current == "base" else current
        env = current
    else:
        env = str(said.get("env") or ("base" if branch == base else branch))
    remote = Remote(
        url=plain_url(url),
        ref=branch,
        folder=str(said.get("root") or "").strip("/"),
        mountpoint=str(said.get("mountpoint") or "").removeprefix("salt://").strip("/"),
        access=access_of(said),
        secrets=secrets_of(said),
    )
    return env, checked(remote)
