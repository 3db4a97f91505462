"""Change files: each function does at once what it says, in test mode, too."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

import os
import re

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import absolute, explain_errors
from saltern.modules.lib.files import owners
from saltern.modules.lib.files.comment_forms import Forms
from saltern.modules.lib.files.diffs import unified
from saltern.modules.lib.files.edit import backup_suffix, ended
from saltern.modules.lib.files.line_change import Order, changer
from saltern.modules.lib.files.patterns import compiled
from saltern.modules.lib.files.prune import prunable
from saltern.modules.lib.files.replacement import flag_bits, replacer
from saltern.modules.lib.files.write import back_up
from saltern.system import files
from saltern.system.files import Attributes

Mode = str


def _lines(args: tuple[object, ...], kwargs: dict[str, object]) -> list[str]:
    """The lines of ``write`` and its kin: arguments one by one, or ``args=`` with a text or a list."""
    given = kwargs.get("args", list(args))
    listed = given if isinstance(given, list | tuple) else [given]
    return [str(item) for part in listed for item in (part if isinstance(part, list | tuple) else [part])]


def _old(path: str, encoding: str | None = None) -> str:
    return (files.read(path) or b"").decode(*_codec(encoding))


def _put(path: str, text: str, encoding: str | None = None) -> None:
    files.write(path, text.encode(*_codec(encoding)))


def _codec(encoding: str | None) -> tuple[str, str]:
    """UTF-8, in which bytes that are none survive, or another one, strictly."""
    if not encoding:
        return "utf-8", "surrogateescape"
    try:
        "".encode(encoding)
    except LookupError:
        raise BadArgument(f"no encoding is called {encoding!r}") from None
    return encoding, "strict"


@function
def write(ctx: Context, /, path: str, *args: str, **kwargs: object) -> str:
    """Write lines to a file; what it held is gone.

    Example:
        ```console
        $ saltern call file.write /srv/app/list.txt one two
        local:
            /srv/app/list.txt: wrote 2 lines
        ```
    """
    lines = _lines(args, kwargs)
    full = absolute(path)
    with explain_errors(path):
        _put(full, "".join(ended(line) or "\n" for line in lines))
    return f"{path}: wrote {len(lines)} lines"


@function
def append(ctx: Context, /, path: str, *args: str, **kwargs: object) -> str:
    """Add lines to the end of a file.

    Example:
        ```console
        $ saltern call file.append /srv/app/list.txt four five
        local:
            /srv/app/list.txt: wrote 2 lines
        ```
    """
    lines = _lines(args, kwargs)
    full = absolute(path)
    with explain_errors(path):
        _put(full, ended(_old(full)) + "".join(ended(line) or "\n" for line in lines))
    return f"{path}: wrote {len(lines)} lines"


@function
def prepend(ctx: Context, /, path: str, *args: str, **kwargs: object) -> str:
    """Add lines to the start of a file.

    Example:
        ```console
        $ saltern call file.prepend /srv/app/list.txt zero
        local:
            /srv/app/list.txt: put 1 lines first
        ```
    """
    lines = _lines(args, kwargs)
    full = absolute(path)
    with explain_errors(path):
        _put(full, "".join(ended(line) or "\n" for line in lines) + _old(full))
    return f"{path}: put {len(lines)} lines first"


@function
def truncate(ctx: Context, path: str, length: int) -> None:
    """Cut a file to this many bytes.

    Example:
        ```console
        $ saltern call file.truncate /srv/app/list.txt 4
        local:
            None
        ```
    """
    full = absolute(path)
    with explain_errors(path):
        files.write(full, (files.read(full) or b"")[: int(length)])


def _edited(
    ctx: Context, path: str, new: str, backup: object, show: bool = True, encoding: str | None = None
) -> str | bool:
    """Write if it differs; the difference, or whether there was one."""
    full = absolute(path)
    seen = files.see(full)
    if seen is None or seen.data is None:
        raise BadArgument(f"{path}: no such file")
    old = seen.data.decode(*_codec(encoding))
    if new == old:
        return "" if show else False
    back_up(ctx, full, seen, backup_suffix(backup))
    _put(full, new, encoding)
    return unified(old, new) if show else True


@function
def replace(
    ctx: Context,
    path: str,
    pattern: str,
    repl: str,
    count: int = 0,
    flags: object = 8,
    bufsize: object = 1,
    append_if_not_found: bool = False,
    prepend_if_not_found: bool = False,
    not_found_content: str | None = None,
    backup: object = ".bak",
    dry_run: bool = False,
    search_only: bool = False,
    show_changes: bool = True,
    ignore_if_missing: bool = False,
    preserve_inode: bool = True,
    backslash_literal: bool = False,
    encoding: str | None = None,
) -> str | bool:
    """Replace what matches a regular expression. Gives the difference, or for ``search_only`` a flag.

    ``encoding`` is that of the file, if it is not UTF-8.

    Example:
        ```console
        $ saltern call file.replace /etc/app.conf '^port = .*' 'port = 8080'
        local:
            ---
            +++
            @@ -1,3 +1,3 @@
            -port = 80
            +port = 8080
             # debug = yes
             name = app
        ```
    """
    full = absolute(path)
    if not os.path.isfile(full):
        if ignore_if_missing:
            return False if search_only else ""
        raise BadArgument(f"{path}: no such file")
    put = "append" if append_if_not_found else "prepend" if prepend_if_not_found else ""
    extra = repl if not_found_content is None else not_found_content
    with explain_errors(path):
        search = compiled(pattern, flag_bits(flags))
        old = _old(full, encoding)
        if search_only:
            return search.search(old) is not None
        new = replacer(search, str(repl), int(count), backslash_literal, put, str(extra))(old)
        if dry_run:
            return unified(old, new) if show_changes else new != old
        return _edited(ctx, path, new, backup, show_changes, encoding)


@function
def line(
    ctx: Context,
    path: str,
    content: str | None = None,
    match: str | None = None,
    mode: str | None = None,
    location: str | None = None,
    before: str | None = None,
    after: str | None = None,
    show_changes: bool = True,
    backup: object = False,
    quiet: bool = False,
    indent: bool = True,
) -> str | bool:
    """Ensure, insert, replace or delete a line, as the state ``file.line``.

    Example:
        ```console
        $ saltern call file.line /etc/app.conf 'host = localhost' mode=ensure after=^port
        local:
            ---
            +++
            @@ -1,3 +1,4 @@
             port = 80
            +host = localhost
             # debug = yes
             name = app
        ```
    """
    full = absolute(path)
    if not os.path.isfile(full) and quiet:
        return False
    order = Order(content or "", match or content or "", location or "", before or "", after or "", indent)
    with explain_errors(path):
        return _edited(ctx, path, changer(mode, order)(_old(full)), backup, show_changes)


@function
def comment(ctx: Context, path: str, regex: str, char: str = "#", backup: object = ".bak") -> str | bool:
    """Comment lines out.

    Example:
        ```console
        $ saltern call file.comment /etc/app.conf ^port
        local:
            ---
            +++
            @@ -1,3 +1,3 @@
            -port = 80
            +#port = 80
             # debug = yes
             name = app
        ```
    """
    with explain_errors(path):
        forms = Forms.of(regex, char)
        new = forms.change(forms.plain, lambda hit: f"{hit[1]}{char}{hit[2]}", forms.commented, True)(
            _old(absolute(path))
        )
        return _edited(ctx, path, new, backup)


@function
def uncomment(ctx: Context, path: str, regex: str, char: str = "#", backup: object = ".bak") -> str | bool:
    """Take the comment sign from lines.

    Example:
        ```console
        $ saltern call file.uncomment /etc/app.conf ^debug
        local:
            ---
            +++
            @@ -1,3 +1,3 @@
             port = 80
            -# debug = yes
            + debug = yes
             name = app
        ```
    """
    with explain_errors(path):
        forms = Forms.of(regex, char)
        new = forms.change(forms.commented, lambda hit: f"{hit[1]}{hit[2]}", forms.plain, True)(
            _old(absolute(path))
        )
        return _edited(ctx, path, new, backup)


# -- whole things ------------------------------------------------------------------------------


@function
def touch(ctx: Context, name: str, atime: float | None = None, mtime: float | None = None) -> bool:
    """Create an empty file, or set the times of what is there.

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
    """Remove a file, a link, or a directory with all it holds; False if nothing is there.

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


def _attributes(user: object, group: object, mode: object) -> Attributes:
    """Names or numbers: what is typed at a prompt, or written in a template, may be either."""
    owner, owners_group = (None if value in (None, "") else str(value) for value in (user, group))
    with explain_errors("owner"):
        return owners.attributes_of(owner, owners_group, None if mode in (None, "") else _octal(mode))


def _octal(mode: object) -> str:
    text = str(mode)
    if not text or text.strip("01234567"):
        raise BadArgument(f"mode needs an octal number such as 0644, not {mode!r}")
    return text


@function
def mkdir(
    ctx: Context, dir_path: str, user: str | None = None, group: str | None = None, mode: Mode | None = None
) -> bool:
    """Make a directory and those above it.

    Example:
        ```console
        $ saltern call file.mkdir /srv/app/data user=ada mode=750
        local:
            True
        ```
    """
    with explain_errors(dir_path):
        files.make_directories(absolute(dir_path), _attributes(user, group, mode))
    return True


@function
def makedirs(
    ctx: Context, path: str, user: str | None = None, group: str | None = None, mode: Mode | None = None
) -> bool:
    """Make the directories above ``path``; its last part is taken for a file unless it ends in ``/``.

    Example:
        ```console
        $ saltern call file.makedirs /srv/app/data/2026/ user=ada mode=750
        local:
            True
        ```
    """
    with explain_errors(path):
        files.make_directories(os.path.dirname(absolute(path)), _attributes(user, group, mode))
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
                raise BadArgument(f"{src} is a directory; say recurse=True")
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


@function
def symlink(
    ctx: Context, src: str, path: str, force: bool = False, atomic: bool = False, follow_symlinks: bool = True
) -> bool:
    """Make a link ``path`` that leads to ``src``.

    Example:
        ```console
        $ saltern call file.symlink /srv/app/releases /srv/app/current
        local:
            True
        ```
    """
    full = absolute(path)
    with explain_errors(path):
        found = files.look(full)
        if found is not None:
            right = files.kind_of(found) == "link" and os.readlink(full) == src
            if right or not (force or atomic):
                return _already(path, right)
            files.remove(full)
        files.link(full, lambda name, directory: os.symlink(src, name, dir_fd=directory))
    return True


def _already(path: str, right: bool) -> bool:
    if right:
        return True
    raise BadArgument(f"{path} is in the way; say force=True")


@function
def link(ctx: Context, src: str, path: str) -> bool:
    """Make ``path`` a further name of the file ``src``.

    Example:
        ```console
        $ saltern call file.link /srv/app/list.txt /srv/app/current.txt
        local:
            True
        ```
    """
    with explain_errors(path):
        os.link(absolute(src), absolute(path), follow_symlinks=False)
    return True


@function
def chown(ctx: Context, path: str, user: str | None, group: str | None) -> None:
    """Change the owner; empty leaves it.

    Example:
        ```console
        $ saltern call file.chown /srv/app/list.txt ada staffers
        local:
            None
        ```
    """
    with explain_errors(path):
        files.set_attributes(absolute(path), _attributes(user, group, None))


@function
def lchown(ctx: Context, path: str, user: str | None, group: str | None) -> None:
    """Change the owner of a link itself.

    Example:
        ```console
        $ saltern call file.lchown /srv/salt/web/issue ada staffers
        local:
            None
        ```
    """
    with explain_errors(path):
        files.set_attributes(absolute(path), _attributes(user, group, None), follow=False)


@function
def chgrp(ctx: Context, path: str, group: str) -> None:
    """Change the group.

    Example:
        ```console
        $ saltern call file.chgrp /srv/app/list.txt staffers
        local:
            None
        ```
    """
    with explain_errors(path):
        files.set_attributes(absolute(path), _attributes(None, group, None))


@function
def set_mode(ctx: Context, path: str, mode: Mode) -> str:
    """Change the mode; the new one.

    Example:
        ```console
        $ saltern call file.set_mode /srv/app/list.txt 600
        local:
            0600
        ```
    """
    text = _octal(mode)
    with explain_errors(path):
        files.set_attributes(absolute(path), Attributes(mode=int(text, 8)))
    return f"{int(text, 8):04o}"


# -- backups -----------------------------------------------------------------------------------

BACKUP = re.compile(r"_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_\d{6}")


def _backups(ctx: Context, path: str) -> list[str]:
    """The copies ``backup: minion`` kept of a file, the newest first."""
    from saltern.config.settings import cache_directory

    parent, name = os.path.split(f"{cache_directory(ctx.settings)}/file_backup{absolute(path)}")
    if not os.path.isdir(parent):
        return []
    mine = [one for one in os.listdir(parent) if one.startswith(name) and BACKUP.fullmatch(one[len(name) :])]
    return [f"{parent}/{one}" for one in sorted(mine, reverse=True)]


@function
def list_backups(ctx: Context, path: str, limit: int | None = None) -> dict[int, dict[str, object]]:
    """The copies kept of a file, the newest first: ``{0: {Location, Size, "Backup Time"}}``.

    Example:
        ```console
        $ saltern call file.list_backups /etc/app.conf
        ```
    """
    return {
        number: {
            "Location": place,
            "Size": os.path.getsize(place),
            "Backup Time": place[-26:].replace("_", " "),
        }
        for number, place in enumerate(_backups(ctx, path)[:limit])
    }


@function
def delete_backup(ctx: Context, path: str, backup_id: int) -> dict[str, object]:
    """Remove one of them.

    Example:
        ```console
        $ saltern call file.delete_backup /etc/app.conf 0
        ```
    """
    found = _backups(ctx, path)
    if not 0 <= int(backup_id) < len(found):
        return {"result": False, "comment": f"there is no backup {backup_id} of {path}"}
    with explain_errors(path):
        os.unlink(found[int(backup_id)])
    return {"result": True, "comment": f"removed {found[int(backup_id)]}"}
