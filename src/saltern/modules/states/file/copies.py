"""``file.copy`` and ``file.rename``: copy or move files and directories of this machine."""

from __future__ import annotations

import errno
import os
import stat

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute, facts
from saltern.modules.lib.files.owners import asked_attributes, attribute_changes, attributes_of, main_group
from saltern.modules.lib.files.walk import below
from saltern.modules.lib.files.write import make_parents, parent_notes
from saltern.system import files
from saltern.system.files import KEPT, Attributes

Mode = str


class Move(Struct, frozen=True, kw_only=True):
    source: str
    path: str
    force: bool
    makedirs: bool
    preserve: bool = False
    user: str | None = None
    group: str | None = None
    mode: str | None = None
    dir_mode: str | None = None


@state(name_is="path")
def copy(
    ctx: Context,
    /,
    name: str,
    *,
    source: str,
    force: bool = False,
    makedirs: bool = False,
    preserve: bool = False,
    user: str | None = None,
    group: str | None = None,
    mode: Mode | None = None,
    dir_mode: Mode | None = None,
    subdir: bool = False,
    owner: str | None = None,
    **_: Ignored,
) -> Result:
    """Copy a file or directory of this machine, unless the destination exists already.

    Args:
        name: the absolute path of the copy.
        source: the absolute path of the file or directory to copy.
        force: overwrite an existing destination, if it differs.
        makedirs: create missing parent directories.
        preserve: keep the mode and owner of the source; ``user``, ``group`` and ``mode`` are ignored.
        user, group, mode: the owner and mode of the copy; the default group is that of the user.
            ``mode: keep`` uses the mode of the source.
        dir_mode: the mode of created directories; if not given, who may read the copy may enter them.
        owner: an alias of ``user``, as on other systems.
        subdir: if ``name`` is a directory, copy into it.

    Example:
        ```yaml
        /srv/app/list.bak:
          file.copy:
            - source: /srv/app/list.txt
            - preserve: true
        ```
    """
    ctx.facts = {"path": name}
    path = absolute(name)
    target = files.look(path, follow=True)
    if subdir and target is not None and files.kind_of(target) == "directory":
        path = os.path.join(path, os.path.basename(source.rstrip("/")))
    user = None if preserve else user or owner
    move = Move(
        source=_source(source),
        path=path,
        force=force,
        makedirs=makedirs,
        preserve=preserve,
        user=user,
        group=None if preserve else group or main_group(user),
        mode=None if preserve or mode == "keep" else mode,
        dir_mode=dir_mode,
    )
    return _copy(ctx, move)


def _source(source: str) -> str:
    if not os.path.isabs(source):
        raise Refused(f"Source {source} is not an absolute path")
    return source


def _copy(ctx: Context, move: Move) -> Result:
    found = files.look(move.source, follow=True)
    if found is None:
        raise Refused(f"nothing to copy: {move.source} does not exist")
    there = files.look(move.path)
    if there is not None and (not move.force or _equal(move, found)):
        word = "is already a copy" if move.force else "exists and is left unchanged (force: False)"
        return result_of(ctx, {}, f"{move.path} {word}", facts(ctx, move.path, there))
    attributes, notes = _asked_attributes(ctx, move, found)
    changes: dict[str, object] = {move.path: move.source}
    changes |= attribute_changes(None, attributes, user=move.user, group=move.group, mode=move.mode)
    notes += parent_notes(ctx, move.path, move.makedirs)
    if not ctx.test:
        _copy_to_place(move, found, attributes)
        there = files.look(move.path)
    would = "\n".join([f"{move.source} would be copied to {move.path}", *notes])
    done = f"{move.path} is now a copy of {move.source}"
    return result_of(ctx, changes, Words(would=would, done=done), facts(ctx, move.path, there))


def _equal(move: Move, found: os.stat_result) -> bool:
    """True if a file with the same content and the requested attributes exists already."""
    if files.kind_of(found) != "file":
        return False
    old = files.see(move.path, follow=False)
    if old is None or old.data is None or old.data != files.read(move.source):
        return False
    attributes = attributes_of(move.user, move.group, move.mode)
    return not attribute_changes(old.stat, attributes, user=move.user, group=move.group, mode=move.mode)


def _asked_attributes(ctx: Context, move: Move, found: os.stat_result) -> tuple[Attributes, list[str]]:
    notes: list[str] = []
    given = asked_attributes(ctx, move.user, move.group, move.mode, notes)
    if not move.preserve:
        return given, notes
    return Attributes(stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid), notes


def _copy_to_place(move: Move, found: os.stat_result, attributes: Attributes) -> None:
    if move.makedirs:
        like = move.mode or f"{stat.S_IMODE(found.st_mode):o}"
        make_parents(move.path, attributes, mode=like, dir_mode=move.dir_mode)
    if files.kind_of(found) == "directory":
        from shutil import copytree

        files.remove(move.path)
        copytree(move.source, files.settle(move.path, follow=False), symlinks=True)
        own = Attributes(None, attributes.uid, attributes.gid)
        for path, _ in below(move.path):
            files.set_attributes(path, own, follow=False)
        files.set_attributes(move.path, attributes, follow=False)
        return
    there = files.look(move.path)
    if there is not None and files.kind_of(there) == "directory":
        files.remove(move.path)
    data = files.read(move.source)
    mode = stat.S_IMODE(found.st_mode) if attributes.mode is None else attributes.mode
    files.write(move.path, data or b"", Attributes(mode, attributes.uid, attributes.gid), follow=False)


@state
def rename(
    ctx: Context, /, name: str, *, source: str, force: bool = False, makedirs: bool = False, **_: Ignored
) -> Result:
    """Move a file or directory, unless it was moved already.

    Args:
        name: the absolute path of the destination.
        source: the absolute path of the source. If it does not exist, it counts as moved.
        force: replace an existing destination.
        makedirs: create missing parent directories.

    Example:
        ```yaml
        /srv/app/names.txt:
          file.rename:
            - source: /srv/app/list.txt
        ```
    """
    ctx.facts = {"path": name}
    move = Move(source=_source(source), path=absolute(name), force=force, makedirs=makedirs)
    there = files.look(move.path)
    if files.look(move.source) is None:
        comment = f"{source} does not exist, so it counts as moved"
        return result_of(ctx, {}, comment, facts(ctx, move.path, there))
    if there is not None and not force:
        comment = f"{move.path} exists and is left unchanged (force: False)"
        return result_of(ctx, {}, comment, facts(ctx, move.path, there))
    notes = parent_notes(ctx, move.path, move.makedirs)
    if not ctx.test:
        _rename(move, there)
        there = files.look(move.path)
    would = "\n".join([f"{source} would be moved to {move.path}", *notes])
    done = f"{source} is now at {move.path}"
    return result_of(ctx, {move.path: source}, Words(would=would, done=done), facts(ctx, move.path, there))


def _rename(move: Move, there: os.stat_result | None) -> None:
    if move.makedirs:
        make_parents(move.path, KEPT)
    if there is not None:
        files.remove(move.path)
    try:
        files.rename(move.source, move.path)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
        from shutil import move as across  # to another file system

        across(move.source, files.settle(move.path, follow=False))
