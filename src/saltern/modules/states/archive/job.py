"""Compare a directory with the archive that is unpacked into it, and change it, by file handles."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.archives.entries import Entry, toplevel
from saltern.modules.lib.archives.formats import Packed, unpack
from saltern.modules.lib.archives.material import note_of
from saltern.modules.lib.files.owners import asked_attributes
from saltern.system import files
from saltern.system.rooted import Rooted


class Job(Struct, frozen=True, kw_only=True):
    """The arguments of the user, without those of the archive itself."""

    into: str
    user: str | None
    group: str | None
    force: bool
    overwrite: bool
    clean: bool
    clean_parent: bool
    enforce_toplevel: bool
    enforce_ownership_on: str | None
    trim: int
    hash_update: bool
    skip_list: bool


@contextmanager
def _open_directory(job: Job) -> Iterator[Rooted | None]:
    """The directory, or None if it does not exist yet."""
    try:
        tree = Rooted(job.into)
    except FileNotFoundError:
        yield None
        return
    except NotADirectoryError:
        raise Refused(f"{job.into} is not a directory") from None
    with tree:
        yield tree


def check_owned_path(job: Job) -> None:
    """Refuse a path outside of the directory, before anything is unpacked."""
    only = os.path.normpath(os.path.join(job.into, job.enforce_ownership_on or ""))
    if only != job.into and not only.startswith(job.into.rstrip("/") + "/"):
        raise Refused(f"enforce_ownership_on must name a path in {job.into}")


# -- what there is to do -----------------------------------------------------------------------


def needs(ctx: Context, job: Job, landing: Sequence[Entry], digest: str) -> bool:
    """True if the archive has to be unpacked. Raises for an entry of another kind that may not be
    replaced.
    """
    with _open_directory(job) as tree:
        kinds = [_present(tree, entry) for entry in landing]
    wrong = kinds.index("wrong") if "wrong" in kinds else None
    if wrong is not None and not (job.force or job.clean or job.clean_parent):
        raise Refused(
            f"{os.path.join(job.into, landing[wrong].name)} exists, but is of another kind than in the "
            "archive; set force: True to replace it"
        )
    new = bool(digest) and files.read(note_of(ctx, job.into)) != digest.encode()
    if job.skip_list and digest:
        return new or job.overwrite
    return new or job.overwrite or any(kind != "right" for kind in kinds)


def _present(tree: Rooted | None, entry: Entry) -> str:
    found = tree.look(entry.name) if tree else None
    if tree is None or found is None:
        return "missing"
    directory = stat.S_ISDIR(found.st_mode)
    if entry.kind == "directory" and stat.S_ISLNK(found.st_mode):
        directory = tree.is_directory(entry.name)
    return "right" if directory == (entry.kind == "directory") else "wrong"


def changes_of(ctx: Context, job: Job, landing: Sequence[Entry]) -> dict[str, object]:
    names = [entry.name for entry in landing]
    changes: dict[str, object] = {"extracted_files": names[: job.trim] if job.trim else names}
    with _open_directory(job) as tree:
        if tree is None:
            changes["directories_created"] = [job.into]
        elif removed := _to_remove(job, tree, landing):
            changes["removed"] = [os.path.join(job.into, name) for name in removed]
    asked_attributes(ctx, job.user, job.group, None, [])
    return changes


def _to_remove(job: Job, tree: Rooted, landing: Sequence[Entry]) -> list[str]:
    """The names that ``clean`` and ``clean_parent`` remove, or else those of another kind than in the
    archive.
    """
    if job.clean_parent:
        return tree.names()
    if not job.clean:
        return [entry.name for entry in landing if _present(tree, entry) == "wrong"]
    directories, others = toplevel(landing)
    here = set(tree.names())
    return [name for name in (*directories, *others) if name in here]


def _names_to_own(job: Job, landing: Sequence[Entry]) -> Iterator[str]:
    """The names below the directory whose owner the user wants to set."""
    if not job.enforce_ownership_on:
        yield from _names(landing)
        return
    name = os.path.relpath(os.path.join(job.into, job.enforce_ownership_on), job.into)
    if name != ".":
        yield name
        yield from (one for one in _names(landing) if one.startswith(f"{name}/"))
    else:
        yield from _names(landing)


def _names(landing: Sequence[Entry]) -> Iterator[str]:
    """Every entry and its parent directories, which an archive need not list."""
    seen: set[str] = set()
    for entry in landing:
        name = entry.name
        while name and name not in seen:
            seen.add(name)
            yield name
            name = name.rpartition("/")[0]


def owner_changes(ctx: Context, job: Job, landing: Sequence[Entry]) -> Mapping[str, object]:
    if not (job.user or job.group):
        return {}
    wanted = asked_attributes(ctx, job.user, job.group, None, [])
    with _open_directory(job) as tree:
        if tree is not None and any(
            _foreign(tree.look(name), wanted) for name in _names_to_own(job, landing)
        ):
            return {"updated ownership": True}
    return {}


def _foreign(found: os.stat_result | None, wanted: files.Attributes) -> bool:
    if found is None:
        return False
    ids = (wanted.uid, found.st_uid), (wanted.gid, found.st_gid)
    return any(want is not None and want != has for want, has in ids)


# -- doing it ----------------------------------------------------------------------------------


def unpack_all(ctx: Context, job: Job, packed: Packed, landing: Sequence[Entry], digest: str) -> None:
    owner = asked_attributes(ctx, job.user, job.group, None, [])
    files.make_directories(job.into, owner)
    with Rooted(job.into) as tree:
        _check_space(tree.path, landing)
        for name in _to_remove(job, tree, landing):
            tree.remove(name)
        unpack(ctx, packed, tree, files.KEPT if job.enforce_ownership_on else owner)
    if digest:
        note = note_of(ctx, job.into)
        files.make_directories(os.path.dirname(note), files.Attributes(mode=0o700))
        files.write(note, digest.encode())


def set_owners(ctx: Context, job: Job, landing: Sequence[Entry]) -> None:
    """Set the owners of files that existed before; unpacked ones have theirs already."""
    if not (job.user or job.group):
        return
    owner = asked_attributes(ctx, job.user, job.group, None, [])
    with Rooted(job.into) as tree:
        for name in _names_to_own(job, landing):
            if _foreign(tree.look(name), owner):
                tree.set_owner(name, owner)


def _check_space(into: str, landing: Sequence[Entry]) -> None:
    room = os.statvfs(into)
    free = room.f_bavail * room.f_frsize
    size = sum(entry.size for entry in landing)
    if size > free:
        raise Refused(f"the archive unpacks to {size} bytes, but {into} only has room for {free}")
