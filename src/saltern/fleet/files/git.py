"""Roots that are git repositories: ``git+https://host/repo.git@ref``, read with the system's git.

Each repository is mirrored once below the controller's state directory; each commit that a root needs is
written into a directory of its own, beside it. What was fetched stays in use while the remote is away.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import time
from contextlib import suppress

from msgspec import Struct

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.mask import mask

PREFIX = "git+"
PROTOCOLS = ("https", "http", "ssh", "git", "file")  # ``ext::`` and its kin would run programs
LIMIT = 600.0
KEEP = 3  # commits of one root
_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+-]{0,250}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Remote(Struct, frozen=True, kw_only=True):
    """One root: a branch, a tag or a commit of a repository, and a directory in it."""

    url: str
    ref: str = ""
    folder: str = ""

    @property
    def shown(self) -> str:
        """The address without a password."""
        return mask(f"{PREFIX}{self.url}{'@' if self.ref else ''}{self.ref}")


def is_remote(root: str) -> bool:
    return root.startswith(PREFIX)


def parse_remote(root: str) -> Remote:
    """``git+URL[@ref][#subdirectory=DIR]``; ``OperationError`` for what git must not be asked for."""
    text, _, fragment = root.removeprefix(PREFIX).partition("#")
    scheme, mark, rest = text.partition("://")
    host, slash, path = rest.partition("/")
    path, _, ref = path.rpartition("@") if "@" in path else (path, "", "")
    folder = fragment.removeprefix("subdirectory=").strip("/")
    remote = Remote(url=f"{scheme}://{host}{slash}{path}", ref=ref, folder=folder)
    if scheme not in PROTOCOLS or not mark or host.startswith("-") or re.search(r"[\s\0]", text):
        raise _wrong(root, f"the address must begin with one of {', '.join(PROTOCOLS)}://")
    if ref and (not _REF.fullmatch(ref) or ".." in ref or ref.endswith((".lock", "/", "."))):
        raise _wrong(root, "the reference is not a branch, a tag or a commit")
    if ".." in folder.split("/") or "\0" in folder:
        raise _wrong(root, "the subdirectory leads out of the repository")
    return remote


class Repositories:
    """Mirrors below one directory. Its methods block: call them from a thread."""

    def __init__(self, directory: str, *, interval: float = 60.0) -> None:
        self._directory = directory
        self._interval = interval
        self._fetched: dict[str, float] = {}
        self.problems: dict[str, str] = {}  # of remotes that were away, by address

    def root(self, remote: Remote, *, now: bool = False) -> str:
        """The directory of a root as it is in its repository, fetched at most every ``interval`` seconds."""
        mirror = self._mirror(remote.url)
        if now or time.monotonic() - self._fetched.get(remote.url, -1e9) >= self._interval:
            self._fetch(remote, mirror)
        commit = self._commit(remote, mirror)
        place = self._written(mirror, commit)
        return os.path.join(place, remote.folder) if remote.folder else place

    def _mirror(self, url: str) -> str:
        return os.path.join(self._directory, hashlib.sha256(url.encode()).hexdigest()[:32])

    def _fetch(self, remote: Remote, mirror: str) -> None:
        """Update the mirror. While the remote is away, what was fetched before stays in use."""
        self._fetched[remote.url] = time.monotonic()
        repository = os.path.join(mirror, "git")
        if not os.path.isdir(os.path.join(repository, "objects")):
            os.makedirs(mirror, 0o700, exist_ok=True)
            self._git(remote, "init", "--quiet", "--bare", "--", repository)
        refs = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        try:
            head = self._git(remote, "ls-remote", "--symref", "--", remote.url, "HEAD")
            self._git(remote, "--git-dir", repository, "fetch", "--quiet", "--prune", "--", remote.url, *refs)
        except OperationError as problem:
            if not self._has_commits(repository):
                raise
            self.problems[remote.shown] = problem.diagnostics[0].what
            return
        if found := re.match(r"ref: (refs/heads/\S+)\s+HEAD", head):
            self._git(remote, "--git-dir", repository, "symbolic-ref", "--", "HEAD", found[1])
        self.problems.pop(remote.shown, None)

    @staticmethod
    def _has_commits(repository: str) -> bool:
        packed = os.path.exists(os.path.join(repository, "packed-refs"))
        return packed or any(files for _, _, files in os.walk(os.path.join(repository, "refs")))

    def _commit(self, remote: Remote, mirror: str) -> str:
        """The commit that the root names: a branch, else a tag, else a commit itself."""
        names = [f"refs/heads/{remote.ref}", f"refs/tags/{remote.ref}"] if remote.ref else ["HEAD"]
        names += [remote.ref] if _COMMIT.fullmatch(remote.ref) else []
        for name in names:
            found = self._run(
                remote,
                (
                    *("--git-dir", os.path.join(mirror, "git")),
                    *("rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}"),
                ),
            )
            if found.returncode == 0:
                return found.stdout.strip()
        raise OperationError(
            Diagnostic(
                code="git-reference",
                what=f"{remote.shown}: the repository has no branch, tag or commit of that name",
                fix="correct the part after '@' in file_roots of the controller",
            )
        )

    def _written(self, mirror: str, commit: str) -> str:
        """The directory that holds the files of a commit, made when it is first needed."""
        place = os.path.join(mirror, commit)
        if not os.path.isdir(place):
            fresh = f"{place}.new"
            shutil.rmtree(fresh, ignore_errors=True)
            os.mkdir(fresh, 0o700)
            index = f"{place}.index"
            self._git(
                Remote(url=mirror),
                *("--git-dir", os.path.join(mirror, "git"), "--work-tree", fresh),
                *("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false"),
                *("checkout", "--quiet", "--force", commit, "--", "."),
                extra={"GIT_INDEX_FILE": index},
                may_be_empty=True,
            )
            with suppress(FileNotFoundError):
                os.unlink(index)
            os.replace(fresh, place)
        os.utime(place)
        self._trim(mirror)
        return place

    @staticmethod
    def _trim(mirror: str) -> None:
        with os.scandir(mirror) as found:
            commits = [one for one in found if _COMMIT.fullmatch(one.name)]
        for one in sorted(commits, key=lambda entry: -entry.stat().st_mtime)[KEEP:]:
            shutil.rmtree(one.path, ignore_errors=True)

    def _git(
        self, remote: Remote, *args: str, extra: dict[str, str] | None = None, may_be_empty: bool = False
    ) -> str:
        done = self._run(remote, args, extra)
        empty = may_be_empty and "did not match any file" in done.stderr
        if done.returncode and not empty:
            lines = done.stderr.strip().splitlines() or [f"git ended with {done.returncode}"]
            raise _failed(remote, mask(lines[-1]))
        return done.stdout

    def _run(
        self, remote: Remote, args: tuple[str, ...], extra: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
            "GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND", "ssh -oBatchMode=yes"),
            "LC_ALL": "C",
            **(extra or {}),
        }
        try:
            return subprocess.run(
                ("git", *args),
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT,
                check=False,
            )
        except FileNotFoundError:
            raise _failed(remote, "there is no git on this machine; install it") from None
        except subprocess.TimeoutExpired:
            raise _failed(remote, f"it did not answer within {LIMIT:.0f} seconds") from None


def _failed(remote: Remote, why: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="git-remote",
            what=f"{remote.shown} cannot be read: {why}",
            fix="check the address, the network and the credentials of the controller's user",
        )
    )


def _wrong(root: str, why: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="git-address",
            what=f"the root {mask(root)!r} is not understood: {why}",
            fix="write git+https://host/repository.git@branch in file_roots of the controller",
        )
    )
