"""``file.directory``: a directory, with its mode and owner and those of its contents."""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec import Struct

from saltern.language.result import Outcome, Result, failed, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.converge import result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute, facts
from saltern.modules.lib.files.owners import asked_attributes, attribute_changes
from saltern.modules.lib.files.patterns import path_matcher
from saltern.modules.lib.files.walk import below, required_paths, superfluous
from saltern.modules.lib.files.write import beside
from saltern.system import files
from saltern.system.files import Attributes

Mode = str
Changes = dict[str, object]

RECURSE_WORDS = ("user", "group", "mode", "ignore_files", "ignore_dirs", "silent")
CLEANED = {"removed": "Removed due to clean"}


class Directory(Struct, frozen=True, kw_only=True):
    """The specification of a directory."""

    path: str
    user: str | None = None
    group: str | None = None
    mode: str | None = None
    file_mode: str | None = None
    makedirs: bool = False
    recurse: frozenset[str] = frozenset()
    max_depth: int | None = None
    children_only: bool = False
    follow: bool = False


@state(name_is="path")
def directory(
    ctx: Context,
    /,
    name: str,
    *,
    user: str | None = None,
    group: str | None = None,
    recurse: list[str] | None = None,
    max_depth: int | None = None,
    dir_mode: Mode | None = None,
    file_mode: Mode | None = None,
    mode: Mode | None = None,
    makedirs: bool = False,
    clean: bool = False,
    exclude_pat: str | list[str] | None = None,
    follow_symlinks: bool = False,
    force: bool = False,
    backupname: str | None = None,
    allow_symlink: bool = True,
    children_only: bool = False,
    owner: str | None = None,
    **_: Ignored,
) -> Result:
    """Manage a directory.

    Args:
        name: the absolute path.
        user, group: the owner.
        owner: an alias of ``user``, as on other systems.
        dir_mode, mode: the mode of the directory, and with ``recurse`` of the directories in it.
        file_mode: the mode of the files in it, with ``recurse``; that of the directories if not given.
        recurse: which of ``user``, ``group`` and ``mode`` also apply to everything in the directory;
            ``ignore_files`` and ``ignore_dirs`` exclude these, ``silent`` leaves them out of the result.
        max_depth: how deep to recurse; 0 means only the directory itself.
        makedirs: create missing parent directories, too, with the same owner and mode.
        clean: remove everything in it that no file state named in ``require`` manages.
        exclude_pat: paths to keep: globs on the path below ``name``, or ``E@`` and a regular expression.
        follow_symlinks: also set the mode and owner of the targets of links. Cleaning never follows a link.
        force: replace a file or a link at this path, also a link to a directory.
        backupname: rename what is at this path to this name instead.
        allow_symlink: False does not accept a link to a directory as a directory.
        children_only: manage only what is in the directory, not the directory itself.

    Example:
        ```yaml
        /srv/app/data:
          file.directory:
            - user: ada
            - group: staffers
            - mode: '2770'
            - makedirs: true
        ```
    """
    ctx.facts = {"path": name}
    words = frozenset(recurse or ())
    if unknown := sorted(words.difference(RECURSE_WORDS)):
        raise Refused(f"recurse knows {', '.join(RECURSE_WORDS)}, not {', '.join(unknown)}")
    if "keep" in (dir_mode, mode, file_mode):
        raise Refused("a directory has no source whose mode could be kept; give an octal mode")
    if clean and max_depth is not None:
        raise Refused("clean removes at every depth, so it cannot be combined with max_depth")
    wanted = Directory(
        path=os.path.normpath(absolute(name)),
        user=user or owner,
        group=group,
        mode=dir_mode or mode,
        file_mode=file_mode or dir_mode or mode,
        makedirs=makedirs,
        recurse=words,
        max_depth=max_depth,
        children_only=children_only,
        follow=follow_symlinks,
    )
    obstacle = _obstacle(wanted.path, allow_symlink, force, backupname)
    removed = _superfluous(ctx, wanted.path, exclude_pat) if clean and not obstacle else []
    return settle_directory(ctx, wanted, obstacle, removed, backupname)


def _obstacle(path: str, allow_symlink: bool, force: bool, backupname: str | None) -> str:
    """The kind of file at the path that may be removed or renamed; empty if there is none."""
    here = files.look(path)
    if here is None:
        return ""
    there = files.look(path, follow=True)
    is_link = files.kind_of(here) == "link"
    allowed = not is_link or (allow_symlink and not force)
    if there is not None and files.kind_of(there) == "directory" and allowed:
        return ""
    kind = "symlink" if is_link else files.kind_of(here)
    if backupname and files.look(beside(path, backupname)) is not None and not force:
        raise Refused(f"{path} is in the way, and its backup {backupname} exists already; set force: True")
    if not (force or backupname):
        raise Refused(f"Specified location {path} exists and is a {kind}")
    return kind


def _superfluous(ctx: Context, path: str, exclude_pat: str | list[str] | None) -> list[str]:
    if files.look(path, follow=True) is None:
        return []
    return superfluous(
        os.path.realpath(path), _resolve_parents(required_paths(ctx)), path_matcher(exclude_pat)
    )


def _resolve_parents(paths: set[str]) -> set[str]:
    return {os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)) for path in paths}


def settle_directory(
    ctx: Context, wanted: Directory, obstacle: str, removed: list[str], backupname: str | None
) -> Result:
    changes: Changes = {}
    if obstacle:
        changes |= _replacement(wanted.path, obstacle, backupname)
    notes: list[str] = []
    todo = list(_todo(ctx, wanted, bool(obstacle), set(removed), notes))
    reported: Changes = {path: difference for path, _, difference in todo}
    if "silent" in wanted.recurse and (reported.keys() - {wanted.path}):
        reported = {path: reported[path] for path in reported if path == wanted.path} | {
            "recursion": "Changes silenced"
        }
    changes |= reported | dict.fromkeys(removed, CLEANED)
    known = facts(ctx, wanted.path, files.look(wanted.path, follow=True))
    if not changes:
        return result_of(ctx, {}, f"The directory {wanted.path} is in the correct state", known)
    if ctx.test:
        comment = "\n".join(["The following files will be changed:", *_listing(changes), *notes])
        return would_change(comment, changes, known)
    if notes:
        return failed(notes[0], changes=changes, **known)  # Salt shows here what it would have made
    _act(wanted, obstacle, todo, removed, backupname)
    known = facts(ctx, wanted.path, files.look(wanted.path, follow=True))
    return Result(
        outcome=Outcome.OK, comment=_done_comment(wanted, todo, removed), changes=changes, data=known
    )


def _replacement(path: str, obstacle: str, backupname: str | None) -> Changes:
    """The changes to a file that is in the way, and to an older backup."""
    if not backupname:
        return {"forced": f"{obstacle} replaced by a directory"}
    backup = beside(path, backupname)
    changes: Changes = {"backup": f"{path} renamed to {backup}"}
    old = files.look(backup)
    if old is not None:
        changes["forced"] = f"existing {files.kind_of(old)} at backup path {backup} removed"
    return changes


Todo = tuple[str, Attributes, Changes]


def _todo(
    ctx: Context, wanted: Directory, replaced: bool, removed: set[str], notes: list[str]
) -> Iterator[Todo]:
    """Each path that differs, with its wanted attributes; the directory itself last."""
    found = None if replaced else files.look(wanted.path, follow=True)
    attributes = asked_attributes(ctx, wanted.user, wanted.group, wanted.mode, notes)
    if found is None:
        parent = files.look(os.path.dirname(wanted.path), follow=True)
        if not wanted.makedirs and (parent is None or files.kind_of(parent) != "directory"):
            notes.append(
                f"{wanted.path}: the directory above it is missing; create it first, or set makedirs: True"
            )
        yield wanted.path, attributes, {"directory": "new"}
        return
    if wanted.recurse:
        yield from _children(ctx, wanted, removed, notes)
    if wanted.children_only:
        return
    here = found if wanted.follow else files.look(wanted.path) or found
    mode = None if files.kind_of(here) == "link" else wanted.mode  # a link has an owner only
    different = attribute_changes(here, attributes, user=wanted.user, group=wanted.group, mode=mode)
    if different:
        yield wanted.path, attributes, different


def _children(ctx: Context, wanted: Directory, removed: set[str], notes: list[str]) -> Iterator[Todo]:
    user = wanted.user if "user" in wanted.recurse else None
    group = wanted.group if "group" in wanted.recurse else None
    modes = {"directory": wanted.mode, "file": wanted.file_mode} if "mode" in wanted.recurse else {}
    ignored = {
        word
        for word, skip in (("file", "ignore_files"), ("directory", "ignore_dirs"))
        if skip in wanted.recurse
    }
    gone = tuple(f"{path}/" for path in removed)
    for path, found in below(wanted.path, depth=wanted.max_depth, follow=wanted.follow):
        kind = files.kind_of(found)
        if kind in ignored or path in removed or path.startswith(gone):
            continue
        mode = modes.get(kind)
        attributes = asked_attributes(ctx, user, group, mode, notes)
        different = attribute_changes(found, attributes, user=user, group=group, mode=mode)
        if different:
            yield path, attributes, different


def _listing(changes: Changes) -> Iterator[str]:
    for path, difference in changes.items():
        if isinstance(difference, dict):
            yield from (f"{path}: {what} - {value}" for what, value in difference.items())
        else:
            yield f"{path}: {difference}"


def _act(
    wanted: Directory, obstacle: str, todo: list[Todo], removed: list[str], backupname: str | None
) -> None:
    if obstacle and backupname:
        files.remove(beside(wanted.path, backupname))
        files.rename(wanted.path, beside(wanted.path, backupname))
    elif obstacle:
        files.remove(wanted.path)
    for path, attributes, difference in todo:
        if "directory" in difference:
            files.make_directories(path, attributes)
        else:
            files.set_attributes(path, attributes, follow=wanted.follow)
    for path in removed:
        files.remove(path)


def _done_comment(wanted: Directory, todo: list[Todo], removed: list[str]) -> str:
    if any("directory" in difference for _, _, difference in todo):
        return f"Directory {wanted.path} created"
    if removed and not todo:
        return f"Removed {len(removed)} superfluous paths from {wanted.path}"
    return f"Directory {wanted.path}{'/*' if wanted.children_only else ''} updated"
