"""The local copy of a repository: the commits that roots need, without their history, and their files.

Fetched commits stay in use while the remote cannot be reached. The files of a commit are written once, into
their own directory, and never changed: a run uses the same files until it ends.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.sources.git.commit_files import hold, remove_old
from saltern.sources.git.full_disk import reported_if_full
from saltern.sources.git.program import git, run
from saltern.sources.git.refspecs import USUAL, Refs, tracked_refs
from saltern.sources.git.remote import COMMIT, Remote

_MANY = 500  # references that are fetched by one call


class Mirror:
    """The mirror of one address, below ``directory``. Its methods block."""

    def __init__(self, directory: str, remote: Remote) -> None:
        self.remote = remote
        about = "\0".join((remote.url, *(":".join(pair) for pair in remote.refspecs)))
        self.place = os.path.join(directory, hashlib.sha256(about.encode()).hexdigest()[:32])
        self._repository = os.path.join(self.place, "git")

    # -- local data -----------------------------------------------------------------------------

    @property
    def fetched(self) -> float:
        """When it was last fetched; 0 if never."""
        try:
            return os.stat(os.path.join(self.place, "fetched")).st_mtime
        except OSError:
            return 0.0

    def refs(self) -> Refs:
        """The references that were fetched, and the head of the remote."""
        if not os.path.isdir(self._repository):
            return Refs({})
        said = self._git("for-each-ref", "--format=%(refname) %(objectname) %(*objectname)", "refs/kept/")
        commits = {}
        for line in said.splitlines():
            name, commit, *peeled = line.split()
            commits[name.replace("refs/kept/", "refs/", 1)] = peeled[0] if peeled else commit
        head = run(self.remote, ("--git-dir", self._repository, "symbolic-ref", "-q", "HEAD"))
        return Refs(commits, head.stdout.strip())

    def commit(self, ref: str) -> str:
        """The commit of a branch, else of a tag, else the commit itself; empty if it was not fetched."""
        known = self.refs()
        names = [f"refs/heads/{ref}", f"refs/tags/{ref}"] if ref else [known.head]
        for name in names:
            if name in known.commits:
                return known.commits[name]
        return ref if COMMIT.fullmatch(ref) and self._has(ref) else ""

    def _has(self, commit: str) -> bool:
        asked = ("--git-dir", self._repository, "cat-file", "-e", f"{commit}^{{commit}}")
        return run(self.remote, asked).returncode == 0

    # -- the remote --------------------------------------------------------------------------------

    def list_remote(self) -> Refs:
        """Read the references of the remote. Raises ``OperationError``."""
        said = git(self.remote, "ls-remote", "--symref", "--", self.remote.url)
        found: dict[str, str] = {}
        head = ""
        for line in said.splitlines():
            value, _, name = line.partition("\t")
            if value.startswith("ref: "):
                head = value.removeprefix("ref: ") if name == "HEAD" else head
            else:
                found[name.removesuffix("^{}")] = value  # for a tag, the commit it points to comes last
        return tracked_refs(found, head, self.remote.refspecs or USUAL)

    def fetch(self, names: Sequence[str], refs: Refs | None = None) -> list[str]:
        """Fetch branches and tags by their full names, or commits; return the tags that have moved."""
        self._make()
        before = self.refs().commits
        sources = refs.sources if refs else {}
        for begin in range(0, len(names), _MANY):
            self._fetch([_refspec(name, sources) for name in names[begin : begin + _MANY]])
        if refs and refs.head:
            self._git("symbolic-ref", "HEAD", refs.head)
        self.touch()
        after = self.refs().commits
        tags = (name for name in names if name.startswith("refs/tags/") and name in before)
        return [name.removeprefix("refs/tags/") for name in tags if before[name] != after.get(name)]

    def _fetch(self, specs: Sequence[str]) -> None:
        """Fetch without history, if the remote supports that."""
        words = ("fetch", "--quiet", "--no-tags", "--force", "--no-write-fetch-head")
        try:
            self._git(*words, "--depth=1", "--", self.remote.url, *specs)
        except OperationError as problem:
            if "shallow" not in problem.diagnostics[0].what:
                raise
            self._git(*words, "--", self.remote.url, *specs)

    def fetch_all(self) -> None:
        """Fetch all branches and tags with their history: some remotes provide a commit in no other way."""
        self._make()
        pairs = self.remote.refspecs or USUAL
        specs = [f"+{there}:{here.replace('refs/', 'refs/kept/', 1)}" for there, here in pairs]
        shallow = ("--unshallow",) if os.path.exists(os.path.join(self._repository, "shallow")) else ()
        self._git("fetch", "--quiet", "--no-tags", "--force", *shallow, "--", self.remote.url, *specs)

    def touch(self) -> None:
        with open(os.path.join(self.place, "fetched"), "w", encoding="utf-8") as file:
            file.write(f"{time.time()}\n")

    def forget(self, names: Sequence[str]) -> None:
        """Remove branches and tags that the remote no longer has."""
        for name in names:
            self._git("update-ref", "-d", name.replace("refs/", "refs/kept/", 1))

    def _make(self) -> None:
        if not os.path.isdir(os.path.join(self._repository, "objects")):
            os.makedirs(self.place, 0o700, exist_ok=True)
            git(self.remote, "init", "--quiet", "--bare", "--", self._repository)

    # -- files -------------------------------------------------------------------------------------

    def directory(self, commit: str) -> str:
        """The directory with the files of a commit, made when it is first needed; this process holds it."""
        place = os.path.join(self.place, commit)
        if not os.path.isdir(place):
            fresh = f"{place}.{os.getpid()}.new"
            shutil.rmtree(fresh, ignore_errors=True)
            os.mkdir(fresh, 0o700)
            try:
                _write_files(self.remote, self._repository, commit, fresh)
                with suppress(OSError):  # another process was faster
                    os.replace(fresh, place)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
            remove_old(self.place)
        hold(place)
        os.utime(place)
        return place

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lock of the mirror: only one process fetches at a time."""
        os.makedirs(self.place, 0o700, exist_ok=True)
        with open(os.path.join(self.place, "lock"), "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _git(self, *words: str) -> str:
        return git(self.remote, "--git-dir", self._repository, *words)


def _write_files(remote: Remote, repository: str, commit: str, directory: str) -> None:
    index = f"{directory}.index"
    words = ("--work-tree", directory, "read-tree", "--reset", "-u", commit)
    cache = os.path.dirname(os.path.dirname(repository))
    try:
        # Reported before the partial files are removed: afterwards there is room.
        with reported_if_full(cache, remote.shown):
            git(remote, "--git-dir", repository, *words, extra={"GIT_INDEX_FILE": index})
    finally:
        for path in (index, f"{index}.lock"):
            with suppress(FileNotFoundError):
                os.unlink(path)


def _refspec(name: str, sources: Mapping[str, str]) -> str:
    if COMMIT.fullmatch(name):
        return name
    return f"+{sources.get(name, name)}:{name.replace('refs/', 'refs/kept/', 1)}"


def missing_ref(remote: Remote) -> OperationError:
    return OperationError(
        Diagnostic(
            code="git-reference",
            what=f"{remote.shown}: the repository has no branch, tag or commit of that name",
            fix="correct the part after '@' in file_roots, or `ref` and `base` of the remote",
        )
    )


def has_folder(directory: str, remote: Remote) -> bool:
    """True if the files of a commit have the directory that is the root."""
    return os.path.isdir(os.path.join(directory, remote.folder))


def view(directory: str, remote: Remote) -> str:
    """The root as a directory: below its mount point, if it has one."""
    inner = os.path.join(directory, remote.folder) if remote.folder else directory
    if not has_folder(directory, remote):
        what = f"{remote.shown}: the commit has no directory {remote.folder!r}"
        fix = "correct 'subdirectory', or `root` of the remote"
        raise OperationError(Diagnostic(code="git-reference", what=what, fix=fix))
    if not remote.mountpoint:
        return inner
    word = hashlib.sha256(f"{inner}\0{remote.mountpoint}".encode()).hexdigest()[:16]
    top = f"{directory}.{word}.mounted"
    link = os.path.join(top, remote.mountpoint)
    os.makedirs(os.path.dirname(link), 0o700, exist_ok=True)
    if not os.path.islink(link):
        fresh = f"{link}.{os.getpid()}.new"
        os.symlink(inner, fresh)
        os.replace(fresh, link)
    return top


def clean_name(name: str) -> str:
    """A branch or tag by its short name."""
    return re.sub(r"^refs/(heads|tags)/", "", name)
