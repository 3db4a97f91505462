"""Roots that are git repositories, as directories: each at one commit for the whole run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from saltern.language.diagnostics import Diagnostic, OperationError, Severity
from saltern.sources.git.environments import environments, named_refs, wanted_refs
from saltern.sources.git.full_disk import reported_if_full
from saltern.sources.git.gitfs import GitfsRemote
from saltern.sources.git.mirror import Mirror, has_folder, missing_ref, view
from saltern.sources.git.places import Option, Place, located_at, nowhere
from saltern.sources.git.refspecs import Refs
from saltern.sources.git.remote import COMMIT, Remote, is_remote, parse_remote

Roots = dict[str, list[str]]


class GitRoots:
    """The remotes in use. A remote is contacted again after ``max_age`` seconds.

    ``commits`` is filled with the commit of each remote, by its address. Given ones are used unchanged, so
    that a resumed run has the same files.
    """

    def __init__(
        self,
        directory: str,
        *,
        max_age: float = 60.0,
        commits: Mapping[str, str] | None = None,
        now: Callable[[], float] = time.time,
        place: Place = nowhere,
    ) -> None:
        """``place`` finds the line of the configuration that names a remote, for problems with it."""
        self._directory = directory
        self._max_age = max_age
        self._now = now
        self._place = place
        self._pinned = dict(commits or {})
        self._fresh: dict[str, Refs] = {}  # remotes that this object has contacted or could not reach
        self.commits: dict[str, str] = {}
        self.warnings: list[Diagnostic] = []

    def resolve_remotes(self, roots: Mapping[str, Sequence[str]], option: str = "") -> Roots:
        """The roots with directories in place of remotes; ``option`` names them in the configuration. Raises
        ``OperationError``.
        """
        return {
            env: [
                self._resolve_root(one, (option, env, index)) if is_remote(one) else one
                for index, one in enumerate(several)
            ]
            for env, several in roots.items()
        }

    def _resolve_root(self, root: str, option: Option) -> str:
        with located_at(self._place, option, root):
            return self.root(parse_remote(root, option))

    def root(self, remote: Remote, max_age: float | None = None) -> str:
        """The directory of one remote; ``max_age`` is its own."""
        mirror = Mirror(self._directory, remote)
        with reported_if_full(self._directory, remote.shown):
            commit = self._pinned.get(remote.shown) or self._commit(mirror, max_age)
            if remote.shown in self._pinned:
                self._fetch_commit(mirror, commit)
            self.commits[remote.shown] = commit
            return view(mirror.directory(commit), remote)

    def gitfs(self, remotes: Sequence[GitfsRemote], others: Sequence[str]) -> Roots:
        """The roots that ``gitfs_remotes`` give to each environment, in the order of the remotes."""
        known = [self._placed_refs(one) for one in remotes]
        envs = dict.fromkeys(others)
        for one, refs in zip(remotes, known, strict=True):
            envs |= dict.fromkeys(environments(one, refs, ()))
        found: Roots = {}
        for one, refs in zip(remotes, known, strict=True):
            with located_at(self._place, one.remote.option, one.remote.written):
                for env, remote in environments(one, refs, list(envs)).items():
                    root = self._gitfs_root(remote, refs)
                    if root:
                        found.setdefault(env, []).append(root)
        return found

    def _placed_refs(self, one: GitfsRemote) -> Refs:
        remote = one.remote
        with (
            located_at(self._place, remote.option, remote.written),
            reported_if_full(self._directory, remote.shown),
        ):
            return self._refs(one)

    def _gitfs_root(self, remote: Remote, refs: Refs) -> str:
        """The directory of an environment; empty if its commit does not have the directory of the root."""
        names = _full_names(refs, remote.ref)
        if not names:  # a commit by its hash
            return self.root(remote)
        mirror = Mirror(self._directory, remote)
        commit = self.commits[remote.shown] = refs.commits[names[0]]
        with reported_if_full(self._directory, remote.shown):
            directory = mirror.directory(commit)
        return view(directory, remote) if has_folder(directory, remote) else ""

    # -- commits -----------------------------------------------------------------------------------

    def _commit(self, mirror: Mirror, max_age: float | None) -> str:
        ref = mirror.remote.ref
        if COMMIT.fullmatch(ref):
            self._fetch_commit(mirror, ref)
            if self._is_old(mirror, max_age):  # reports an unreachable remote
                self._update(mirror, lambda _: [], may_stay=True)
            return ref
        commit = mirror.commit(ref)
        if not commit or self._is_old(mirror, max_age):
            self._update(mirror, lambda refs: _full_names(refs, ref), may_stay=bool(commit))
            commit = mirror.commit(ref)
        if not commit:
            raise missing_ref(mirror.remote)
        return commit

    def _fetch_commit(self, mirror: Mirror, commit: str) -> None:
        """Fetch a commit by its hash, once: it cannot move."""
        if mirror.commit(commit):
            return
        with mirror.hold():
            try:
                mirror.fetch([commit])
            except OperationError as problem:
                if "not our ref" not in str(problem) and "unadvertised" not in str(problem):
                    raise
                mirror.fetch_all()
        if not mirror.commit(commit):
            raise missing_ref(mirror.remote)

    def _is_old(self, mirror: Mirror, max_age: float | None) -> bool:
        """True if the remote must be asked again. A ``max_age`` of 0 for all remotes overrides their own."""
        age = self._max_age if max_age is None or not self._max_age else max_age
        return mirror.place not in self._fresh and self._now() - mirror.fetched >= age

    def _refs(self, one: GitfsRemote) -> Refs:
        """The references of a remote of ``gitfs_remotes``; the needed ones are fetched."""
        mirror = Mirror(self._directory, one.remote)
        known = mirror.refs()
        if not known.commits or self._is_old(mirror, one.interval) or self._lacks(mirror, one, known):
            self._update(mirror, lambda refs: wanted_refs(one, refs), may_stay=bool(known.commits), all_=True)
            known = mirror.refs()
        return known

    def _lacks(self, mirror: Mirror, one: GitfsRemote, known: Refs) -> bool:
        """True if this entry needs references that were not fetched for other entries or earlier settings."""
        if mirror.place in self._fresh:
            return any(name not in known.commits for name in wanted_refs(one, self._fresh[mirror.place]))
        asked_for = named_refs(one) - {one.base, *one.envs}  # a remote may have no branch of that name
        return any(not _full_names(known, ref) and not COMMIT.fullmatch(ref) for ref in asked_for)

    def _update(
        self, mirror: Mirror, wanted: Callable[[Refs], list[str]], *, may_stay: bool, all_: bool = False
    ) -> None:
        """Fetch what has changed. ``may_stay``: earlier fetched references are sufficient if the remote is
        unreachable.
        """
        with mirror.hold():
            try:
                refs = self._fresh.get(mirror.place) or mirror.list_remote()
                self._fresh[mirror.place] = refs
                known = mirror.refs()
                names = wanted(refs)
                gone = [name for name in known.commits if name not in refs.commits]
                changed = [name for name in names if known.commits.get(name) != refs.commits[name]]
                moved = mirror.fetch(changed, refs) if changed or refs.head != known.head else []
                mirror.forget(
                    gone if all_ else [name for name in gone if name in _full_names(known, mirror.remote.ref)]
                )
                mirror.touch()
            except OperationError as problem:
                if not may_stay:
                    raise
                self._fresh[mirror.place] = mirror.refs()
                self._warn_away(mirror, problem)
                return
        for tag in moved:
            self._warn(mirror, "git-tag-moved", f"the tag {tag!r} has moved to another commit")

    def _warn_away(self, mirror: Mirror, problem: OperationError) -> None:
        why = problem.diagnostics[0].what.partition(" cannot be read: ")[2]
        hours = (self._now() - mirror.fetched) / 3600
        self._warn(
            mirror,
            "git-away",
            f"it cannot be reached ({why}); its state of {hours:.1f} hours ago is used",
        )

    def _warn(self, mirror: Mirror, code: str, what: str) -> None:
        remote = mirror.remote
        where = self._place(remote.option, remote.written) if remote.option else None
        said = f"{remote.shown}: {what}"
        self.warnings.append(Diagnostic(severity=Severity.WARNING, code=code, what=said, where=where))


def _full_names(refs: Refs, ref: str) -> list[str]:
    """The full name of a branch, else of a tag; the head of the remote if ``ref`` is empty."""
    names = [f"refs/heads/{ref}", f"refs/tags/{ref}"] if ref else [refs.head]
    return [name for name in names if name in refs.commits][:1]
