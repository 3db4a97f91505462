"""``file``: create, copy, move and remove files and directories."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import absolute, explain_errors
from saltern.modules.functions.file.owners import Mode, attributes_of
from saltern.modules.lib.files.prune import prunable
from saltern.system import files
from saltern.system.files import Attributes


@function
def touch(ctx: Context, name: str, atime: float | None = None, mtime: float | None = None) -> bool:
    """Create an empty file, or set the times of an existing file or directory.

    Example:
        ```console
        $ saltern call file.touch /srv/app/changed
        local:
            True
        ```
    """
    full = absolute(name)
    now = ctx.clock.now()
    for given in (atime, mtime):
        if given is not None and not isinstance(given, int | float):
            raise BadArgument(f"atime and mtime need numbers of seconds, got {given!r}")
    first = atime if atime is not None else mtime
    with explain_errors(name):
        if files.look(full, follow=True) is None:
            files.write(full, b"")
        os.utime(full, (now, now) if first is None else (first, mtime if mtime is not None else first))
    return True


@function
def remove(ctx: Context, path: str) -> bool:
    """Remove a file, a link, or a directory with its contents; False if it does not exist.

    Example:
        ```console
        $ saltern call file.remove /srv/app/list.txt
        local:
            True
        ```
    """
    full = absolute(path)
    if os.path.normpath(full) in ("/", "//"):
        raise BadArgument("'/' is not removed")
    with explain_errors(path):
        return files.remove(full.rstrip("/"))


@function
def rmdir(
    ctx: Context, path: str, recurse: bool = False, verbose: bool = False, older_than: float | None = None
) -> bool | dict[str, object]:
    """Remove an empty directory; False if it is not empty.

    Args:
        path: the directory.
        recurse: also remove the empty directories below it.
        verbose: return a mapping: ``result``, ``deleted``, and ``errors`` with a reason for each.
        older_than: only directories not changed for this many days.

    Example:
        ```console
        $ saltern call file.rmdir /srv/app/releases
        local:
            True
        ```
    """
    full = absolute(path)
    if not os.path.isdir(full):
        raise BadArgument(f"{path} is not a directory")
    with explain_errors(path):
        todo = prunable(full, recurse=recurse, older_than=older_than, now=ctx.clock.now())
        for victim in todo.deleted:
            files.remove(victim, tree=False)
    done = not todo.errors and (recurse or bool(todo.deleted))
    return {"result": done, "deleted": todo.deleted, "errors": todo.errors} if verbose else done


@function
def mkdir(
    ctx: Context, dir_path: str, user: str | None = None, group: str | None = None, mode: Mode | None = None
) -> bool:
    """Create a directory and its parents.

    Example:
        ```console
        $ saltern call file.mkdir /srv/app/data user=ada mode=750
        local:
            True
        ```
    """
    with explain_errors(dir_path):
        files.make_directories(absolute(dir_path), attributes_of(user, group, mode))
    return True


@function
def makedirs(
    ctx: Context, path: str, user: str | None = None, group: str | None = None, mode: Mode | None = None
) -> bool:
    """Create the parent directories of ``path``; its last part is a file unless it ends in ``/``.

    Example:
        ```console
        $ saltern call file.makedirs /srv/app/data/2026/ user=ada mode=750
        local:
            True
        ```
    """
    with explain_errors(path):
        files.make_directories(os.path.dirname(absolute(path)), attributes_of(user, group, mode))
    return True


@function
def copy(ctx: Context, src: str, dst: str, recurse: bool = False, remove_existing: bool = False) -> bool:
    """Copy a file with its mode; with ``recurse``, a directory.

    Example:
        ```console
        $ saltern call file.copy /srv/app/list.txt /srv/app/list.bak
        local:
            True
        ```
    """
    source, target = absolute(src), absolute(dst)
    found = files.look(source, follow=True)
    if found is None:
        raise BadArgument(f"{src}: no such file")
    with explain_errors(dst):
        if files.kind_of(found) == "directory":
            if not recurse:
                raise BadArgument(f"{src} is a directory; set recurse=True")
            _copy_tree(source, target, remove_existing)
            return True
        if os.path.isdir(target):
            target = os.path.join(target, os.path.basename(source))
        files.write(target, files.read(source) or b"", Attributes(mode=found.st_mode & 0o7777))
    return True


def _copy_tree(source: str, target: str, remove_existing: bool) -> None:
    from shutil import copytree

    if remove_existing:
        files.remove(target)
    copytree(source, target, symlinks=True, dirs_exist_ok=True)


@function
def move(ctx: Context, src: str, dst: str, disallow_copy_and_unlink: bool = False) -> dict[str, object]:
    """Move a file or directory, across file systems, too, unless that is disallowed.

    Example:
        ```console
        $ saltern call file.move /srv/app/list.txt /srv/app/names.txt
        local:
            ----------
            comment:
                /srv/app/list.txt is now /srv/app/names.txt
            result:
                True
        ```
    """
    source, target = absolute(src), absolute(dst)
    with explain_errors(src):
        if disallow_copy_and_unlink:
            files.rename(source, target)
        else:
            from shutil import move as across

            across(source, target)
    return {"result": True, "comment": f"{src} is now {dst}"}


@function
def rename(ctx: Context, src: str, dst: str) -> bool:
    """Move within one file system.

    Example:
        ```console
        $ saltern call file.rename /srv/app/list.txt /srv/app/names.txt
        local:
            True
        ```
    """
    with explain_errors(src):
        files.rename(absolute(src), absolute(dst))
    return True
