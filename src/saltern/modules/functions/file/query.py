"""What is there: kinds, modes, owners, names of paths."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

import os
import stat

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import expanded, explain_errors
from saltern.modules.lib.files import owners
from saltern.modules.lib.files.facts import digest
from saltern.modules.lib.files.names import names_of
from saltern.modules.lib.files.sources import FORMS
from saltern.system import files

ACCESS: dict[str, int] = {"f": os.F_OK, "r": os.R_OK, "w": os.W_OK, "x": os.X_OK}
TYPES: dict[str, str] = {
    "directory": "dir",
    "pipe": "pipe",
    "character device": "char",
    "block device": "block",
}


@function
def file_exists(ctx: Context, path: str) -> bool:
    """Whether a regular file is there; a link counts by what it leads to.

    Example:
        ```console
        $ saltern call file.file_exists /srv/app/list.txt
        local:
            True
        ```
    """
    return os.path.isfile(expanded(path))


@function
def directory_exists(ctx: Context, path: str) -> bool:
    """Whether a directory is there; a link counts by what it leads to.

    Example:
        ```console
        $ saltern call file.directory_exists /srv/app
        local:
            True
        ```
    """
    return os.path.isdir(expanded(path))


@function
def path_exists_glob(ctx: Context, path: str) -> bool:
    """Whether anything matches the pattern, such as ``/etc/pam.d/*.conf``.

    Example:
        ```console
        $ saltern call file.path_exists_glob '/srv/app/*.txt'
        local:
            True
        ```
    """
    from glob import iglob

    return any(True for _ in iglob(expanded(path)))


@function
def is_link(ctx: Context, path: str, nostat: bool = False) -> bool:
    """Whether a symbolic link is there. ``nostat`` is accepted for Salt's sake.

    Example:
        ```console
        $ saltern call file.is_link /srv/salt/web/issue
        local:
            True
        ```
    """
    return os.path.islink(expanded(path))


@function
def is_hardlink(ctx: Context, path: str) -> bool:
    """Whether a file is there that has more than one name.

    Example:
        ```console
        $ saltern call file.is_hardlink /srv/app/list.txt
        local:
            False
        ```
    """
    found = files.look(expanded(path))
    return found is not None and files.kind_of(found) == "file" and found.st_nlink > 1


def _is(path: str, kind: str) -> bool:
    found = files.look(expanded(path), follow=True)
    return found is not None and files.kind_of(found) == kind


@function
def is_fifo(ctx: Context, name: str) -> bool:
    """Whether a pipe is there.

    Example:
        ```console
        $ saltern call file.is_fifo /srv/app/list.txt
        local:
            False
        ```
    """
    return _is(name, "pipe")


@function
def is_chrdev(ctx: Context, name: str) -> bool:
    """Whether a character device is there.

    Example:
        ```console
        $ saltern call file.is_chrdev /dev/null
        local:
            True
        ```
    """
    return _is(name, "character device")


@function
def is_blkdev(ctx: Context, name: str) -> bool:
    """Whether a block device is there.

    Example:
        ```console
        $ saltern call file.is_blkdev /dev/null
        local:
            False
        ```
    """
    return _is(name, "block device")


@function
def access(ctx: Context, path: str, mode: str) -> bool:
    """Whether this process may: ``f`` see it, ``r`` read it, ``w`` write it, ``x`` run it.

    Example:
        ```console
        $ saltern call file.access /etc/app.conf r
        local:
            True
        ```
    """
    if mode not in ACCESS:
        raise BadArgument(f"mode must be one of {', '.join(ACCESS)}, not {mode!r}")
    return os.access(expanded(path), ACCESS[mode])


@function
def basename(ctx: Context, path: str) -> str:
    """The last part of a path.

    Example:
        ```console
        $ saltern call file.basename /srv/app/list.txt
        local:
            list.txt
        ```
    """
    return os.path.basename(path)


@function
def dirname(ctx: Context, path: str) -> str:
    """A path without its last part.

    Example:
        ```console
        $ saltern call file.dirname /srv/app/list.txt
        local:
            /srv/app
        ```
    """
    return os.path.dirname(path)


@function
def join(ctx: Context, *args: str) -> str:
    """Parts put together to a path.

    Example:
        ```console
        $ saltern call file.join /srv app list.txt
        local:
            /srv/app/list.txt
        ```
    """
    return os.path.join(*args) if args else ""


@function
def normpath(ctx: Context, path: str) -> str:
    """A path without ``..``, ``.`` and double slashes.

    Example:
        ```console
        $ saltern call file.normpath /srv//app/../app/list.txt
        local:
            /srv/app/list.txt
        ```
    """
    return os.path.normpath(path)


@function
def pardir(ctx: Context) -> str:
    """The name of the directory above.

    Example:
        ```console
        $ saltern call file.pardir
        local:
            ..
        ```
    """
    return os.pardir


@function
def readdir(ctx: Context, path: str) -> list[str]:
    """The names in a directory, ``.`` and ``..`` among them.

    Example:
        ```console
        $ saltern call file.readdir /srv/app
        local:
            - .
            - ..
            - list.txt
            - other.txt
            - releases
        ```
    """
    with explain_errors(path):
        return [".", "..", *sorted(os.listdir(expanded(path)))]


@function
def readlink(ctx: Context, path: str, canonicalize: bool = False) -> str:
    """Where a link leads; with ``canonicalize``, the file at the very end.

    Example:
        ```console
        $ saltern call file.readlink /srv/salt/web/issue
        local:
            motd
        ```
    """
    full = expanded(path)
    if not os.path.islink(full):
        raise BadArgument(f"{path}: no link is there")
    return os.path.realpath(full) if canonicalize else os.readlink(full)


def _stat(path: str, follow: bool = True) -> os.stat_result:
    with explain_errors(path):
        found = files.look(expanded(path), follow=follow)
        if found is not None:
            return found
    raise BadArgument(f"{path}: nothing is there")


@function
def get_mode(ctx: Context, path: str, follow_symlinks: bool = True) -> str:
    """The mode, such as ``0644``.

    Example:
        ```console
        $ saltern call file.get_mode /srv/app/list.txt
        local:
            0644
        ```
    """
    return f"{stat.S_IMODE(_stat(path, follow_symlinks).st_mode):04o}"


@function
def get_uid(ctx: Context, path: str, follow_symlinks: bool = True) -> int:
    """The number of the user who owns it.

    Example:
        ```console
        $ saltern call file.get_uid /srv/app/list.txt
        local:
            0
        ```
    """
    return _stat(path, follow_symlinks).st_uid


@function
def get_gid(ctx: Context, path: str, follow_symlinks: bool = True) -> int:
    """The number of the group that owns it.

    Example:
        ```console
        $ saltern call file.get_gid /srv/app/list.txt
        local:
            0
        ```
    """
    return _stat(path, follow_symlinks).st_gid


@function
def get_user(ctx: Context, path: str, follow_symlinks: bool = True) -> str:
    """The user who owns it.

    Example:
        ```console
        $ saltern call file.get_user /srv/app/list.txt
        local:
            root
        ```
    """
    return names_of(ctx).user(_stat(path, follow_symlinks).st_uid)


@function
def get_group(ctx: Context, path: str, follow_symlinks: bool = True) -> str:
    """The group that owns it.

    Example:
        ```console
        $ saltern call file.get_group /srv/app/list.txt
        local:
            root
        ```
    """
    return names_of(ctx).group(_stat(path, follow_symlinks).st_gid)


@function
def uid_to_user(ctx: Context, uid: int) -> str:
    """The name of a user; empty if there is none.

    Example:
        ```console
        $ saltern call file.uid_to_user 2001
        local:
            ada
        ```
    """
    name = names_of(ctx).user(int(uid))
    return "" if name == str(uid) else name


@function
def gid_to_group(ctx: Context, gid: int) -> str:
    """The name of a group; empty if there is none.

    Example:
        ```console
        $ saltern call file.gid_to_group 2000
        local:
            staffers
        ```
    """
    name = names_of(ctx).group(int(gid))
    return "" if name == str(gid) else name


@function
def user_to_uid(ctx: Context, user: str) -> int | str:
    """The number of a user; empty if there is none.

    Example:
        ```console
        $ saltern call file.user_to_uid ada
        local:
            2001
        ```
    """
    found = owners.user_id(str(user))
    return "" if found is None else found


@function
def group_to_gid(ctx: Context, group: str) -> int | str:
    """The number of a group; empty if there is none.

    Example:
        ```console
        $ saltern call file.group_to_gid staffers
        local:
            2000
        ```
    """
    found = owners.group_id(str(group))
    return "" if found is None else found


@function
def stats(
    ctx: Context, path: str, hash_type: str | None = None, follow_symlinks: bool = True
) -> dict[str, object]:
    """All that is known of a path; with ``hash_type`` (``sha256``), its checksum, too.

    Example:
        ```console
        $ saltern call file.stats /srv/app/list.txt
        local:
        …
            mode:
                0644
        …
        ```
    """
    found = _stat(path, follow_symlinks)
    names = names_of(ctx)
    kind = files.kind_of(found)
    known: dict[str, object] = {
        "inode": found.st_ino,
        "uid": found.st_uid,
        "gid": found.st_gid,
        "user": names.user(found.st_uid),
        "group": names.group(found.st_gid),
        "atime": found.st_atime,
        "mtime": found.st_mtime,
        "ctime": found.st_ctime,
        "size": found.st_size,
        "mode": f"{stat.S_IMODE(found.st_mode):04o}",
        "type": TYPES.get(kind, kind),
        "target": os.path.realpath(expanded(path)),
    }
    if hash_type and kind == "file":
        known["sum"] = _hash(path, hash_type)
    return known


@function
def lstat(ctx: Context, path: str) -> dict[str, object]:
    """What the system knows of a path itself, links not followed; empty if nothing is there.

    Example:
        ```console
        $ saltern call file.lstat /srv/app/list.txt
        local:
        …
            st_mtime:
                …
        …
        ```
    """
    found = files.look(expanded(path))
    if found is None:
        return {}
    fields = ("atime", "ctime", "gid", "mode", "mtime", "nlink", "size", "uid")
    return {f"st_{field}": getattr(found, f"st_{field}") for field in fields}


@function
def statvfs(ctx: Context, path: str) -> dict[str, object]:
    """What the system knows of the file system a path is on.

    Example:
        ```console
        $ saltern call file.statvfs /srv
        ```
    """
    with explain_errors(path):
        found = os.statvfs(expanded(path))
        fields = (
            "bavail",
            "bfree",
            "blocks",
            "bsize",
            "favail",
            "ffree",
            "files",
            "flag",
            "frsize",
            "namemax",
        )
        return {f"f_{field}": getattr(found, f"f_{field}") for field in fields}


def _hash(path: str, form: str) -> str:
    with explain_errors(path):
        data = files.read(expanded(path))
    if data is None:
        raise BadArgument(f"{path}: no such file")
    try:
        return digest(data, form)
    except ValueError:
        raise BadArgument(f"no checksum is called {form!r}; there are {', '.join(FORMS.values())}") from None


@function
def get_hash(ctx: Context, path: str, form: str = "sha256", chunk_size: int = 65536) -> str:
    """The checksum of a file.

    Example:
        ```console
        $ saltern call file.get_hash /srv/app/list.txt sha1
        local:
            98ce56098daf1a2ffe03a0d108ea841f1e4e6c69
        ```
    """
    return _hash(path, form)


@function
def get_sum(ctx: Context, path: str, form: str = "sha256") -> str:
    """The checksum of a file.

    Example:
        ```console
        $ saltern call file.get_sum /srv/app/list.txt md5
        local:
            deed54b823522e0525693b090363f9df
        ```
    """
    return _hash(path, form)


@function
def check_hash(ctx: Context, path: str, file_hash: str) -> bool:
    """Whether a file has this checksum: ``sha256=…``, ``sha256:…`` or bare digits.

    Example:
        ```console
        $ saltern call file.check_hash /srv/app/list.txt sha1:98ce56098daf1a2ffe03a0d108ea841f1e4e6c69
        local:
            True
        ```
    """
    form, _, value = file_hash.replace("=", ":").rpartition(":")
    chosen = form or FORMS.get(len(value), "")
    if not chosen:
        raise BadArgument(f"{file_hash!r} is no checksum: it has {len(value)} digits")
    return _hash(path, chosen) == value.lower()
