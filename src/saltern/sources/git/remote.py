"""The address of a root in a git repository:
``git+https://host/repo.git@ref#subdirectory=states&mountpoint=x``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.mask import mask
from saltern.sources.git.places import Option

PREFIX = "git+"
PROTOCOLS = ("https", "http", "ssh", "git", "file")  # ``ext::`` and the like would run programs
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/+@-]{0,250}")
_LIKE_SSH = re.compile(r"(?P<user>[A-Za-z0-9_][\w.-]*)@(?P<host>[A-Za-z0-9][\w.-]*):(?P<path>[^\s:]+)")
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Remote(Struct, frozen=True, kw_only=True):
    """One root: a branch, a tag or a commit of a repository, a directory in it, and where that appears below
    ``salt://``.

    ``access`` are options of git for this remote; ``secrets`` are environment variables that they need;
    ``refspecs`` are patterns of references of the remote and of the mirror, if they are not the usual ones;
    ``option`` is the option of the configuration that has it, and ``written`` its text there.
    """

    url: str
    ref: str = ""
    folder: str = ""
    mountpoint: str = ""
    access: tuple[tuple[str, str], ...] = ()
    secrets: tuple[tuple[str, str], ...] = ()
    refspecs: tuple[tuple[str, str], ...] = ()
    option: Option = ()
    written: str = ""

    @property
    def shown(self) -> str:
        """The address without a password."""
        return mask(f"{PREFIX}{self.url}{'@' if self.ref else ''}{self.ref}")


def is_remote(root: str) -> bool:
    return root.startswith(PREFIX)


def parse_remote(root: str, option: Option = ()) -> Remote:
    """``git+URL[@ref][#subdirectory=DIR&mountpoint=DIR]``; ``OperationError`` for an address that
    is refused."""
    text, _, fragment = root.removeprefix(PREFIX).partition("#")
    scheme, mark, rest = text.partition("://")
    host, slash, path = rest.partition("/")
    path, _, ref = path.rpartition("@") if "@" in path else (path, "", "")
    if not mark:
        raise _wrong(root, f"the address must begin with one of {', '.join(PROTOCOLS)}://")
    words = _words(fragment, root)
    return check_remote(
        Remote(
            url=f"{scheme}://{host}{slash}{path}",
            ref=ref,
            folder=words.get("subdirectory", "").strip("/"),
            mountpoint=words.get("mountpoint", "").removeprefix("salt://").strip("/"),
            option=option,
            written=root,
        ),
        root,
    )


def _words(fragment: str, root: str) -> Mapping[str, str]:
    words: dict[str, str] = {}
    for part in filter(None, fragment.split("&")):
        name, _, value = part.partition("=")
        name = "subdirectory" if name == "root" else name
        if name not in ("subdirectory", "mountpoint"):
            raise _wrong(root, f"'#{name}' is neither 'subdirectory' nor 'mountpoint'")
        words[name] = value
    return words


def check_remote(remote: Remote, root: str = "") -> Remote:
    """The same remote. Raises ``OperationError`` if it must not be passed to git."""
    root = root or remote.url
    scheme, mark, rest = remote.url.partition("://")
    if not mark or scheme not in PROTOCOLS or rest.startswith("-") or re.search(r"[\s\0]", remote.url):
        raise _wrong(root, f"the address must begin with one of {', '.join(PROTOCOLS)}://")
    if remote.ref and not is_reference(remote.ref):
        raise _wrong(root, "the reference is not a branch, a tag or a commit")
    for name in ("folder", "mountpoint"):
        if ".." in getattr(remote, name).split("/") or "\0" in getattr(remote, name):
            raise _wrong(root, f"the {name} leads out of the repository")
    return remote


def is_reference(ref: str) -> bool:
    """True if it can be the name of a branch, a tag or a commit, and nothing else."""
    return bool(_REF.fullmatch(ref)) and not (".." in ref or "@{" in ref or ref.endswith((".lock", "/", ".")))


def plain_url(url: str) -> str:
    """The URL of an address in Salt's configuration, where ``git@host:path`` and paths are addresses, too."""
    found = _LIKE_SSH.fullmatch(url)
    if found is not None:
        return f"ssh://{found['user']}@{found['host']}/{found['path'].lstrip('/')}"
    return f"file://{url}" if url.startswith("/") else url.removeprefix(PREFIX)


def _wrong(root: str, why: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="git-address",
            what=f"the root {mask(root)!r} is invalid: {why}",
            fix="write git+https://host/repository.git@branch in file_roots",
        )
    )
