"""Roots of a controller that are git repositories; see ``sources/git``.

Each repository is kept once below the controller's state directory. While a remote is away, the last
fetched state stays in use.
"""

from __future__ import annotations

from saltern.sources.git.remote import Remote, is_remote, parse_remote
from saltern.sources.git.roots import GitRoots

__all__ = ["Remote", "Repositories", "is_remote", "parse_remote"]


class Repositories:
    """The clones of git remotes below one directory. Its methods block: call them from a thread."""

    def __init__(self, directory: str, *, interval: float = 60.0) -> None:
        self._directory = directory
        self._interval = interval
        self.problems: dict[str, str] = {}  # problems of remotes that were away, by address

    def root(self, remote: Remote, *, now: bool = False) -> str:
        """The directory of a root in its repository, which is fetched at most every ``interval`` seconds."""
        roots = GitRoots(self._directory, max_age=0.0 if now else self._interval)
        place = roots.root(remote)
        self.problems.pop(remote.shown, None)
        for warning in roots.warnings:
            self.problems[remote.shown] = warning.what
        return place
