"""``file``: whether a path exists, and its kind."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import expand_home, explain_errors
from saltern.system import files

ACCESS: dict[str, int] = {"f": os.F_OK, "r": os.R_OK, "w": os.W_OK, "x": os.X_OK}


@function
def file_exists(ctx: Context, path: str) -> bool:
    """True if a regular file exists; links are followed.

    Example:
        ```console
        $ saltern call file.file_exists /srv/app/list.txt
        local:
            True
        ```
    """
    return os.path.isfile(expand_home(path))


@function
def directory_exists(ctx: Context, path: str) -> bool:
    """True if a directory exists; links are followed.

    Example:
        ```console
        $ saltern call file.directory_exists /srv/app
        local:
            True
        ```
    """
    return os.path.isdir(expand_home(path))


@function
def path_exists_glob(ctx: Context, path: str) -> bool:
    """True if anything matches the pattern, such as ``/etc/pam.d/*.conf``.

    Example:
        ```console
        $ saltern call file.path_exists_glob '/srv/app/*.txt'
        local:
            True
        ```
    """
    from glob import iglob

    return any(True for _ in iglob(expand_home(path)))


@function
def is_link(ctx: Context, path: str, nostat: bool = False) -> bool:
    """True if the path is a symbolic link. ``nostat`` is accepted for compatibility with Salt.

    Example:
        ```console
        $ saltern call file.is_link /srv/salt/web/issue
        local:
            True
        ```
    """
    return os.path.islink(expand_home(path))


@function
def is_hardlink(ctx: Context, path: str) -> bool:
    """True if the path is a file with more than one name.

    Example:
        ```console
        $ saltern call file.is_hardlink /srv/app/list.txt
        local:
            False
        ```
    """
    found = files.look(expand_home(path))
    return found is not None and files.kind_of(found) == "file" and found.st_nlink > 1


def _is(path: str, kind: str) -> bool:
    found = files.look(expand_home(path), follow=True)
    return found is not None and files.kind_of(found) == kind


@function
def is_fifo(ctx: Context, name: str) -> bool:
    """True if the path is a pipe.

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
    """True if the path is a character device.

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
    """True if the path is a block device.

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
    """True if this process may see (``f``), read (``r``), write (``w``) or execute (``x``) a path.

    Example:
        ```console
        $ saltern call file.access /etc/app.conf r
        local:
            True
        ```
    """
    if mode not in ACCESS:
        raise BadArgument(f"mode must be one of {', '.join(ACCESS)}, not {mode!r}")
    return os.access(expand_home(path), ACCESS[mode])


@function
def readdir(ctx: Context, path: str) -> list[str]:
    """The names in a directory, including ``.`` and ``..``.

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
        return [".", "..", *sorted(os.listdir(expand_home(path)))]


@function
def readlink(ctx: Context, path: str, canonicalize: bool = False) -> str:
    """The target of a link; with ``canonicalize``, the final target.

    Example:
        ```console
        $ saltern call file.readlink /srv/salt/web/issue
        local:
            motd
        ```
    """
    full = expand_home(path)
    if not os.path.islink(full):
        raise BadArgument(f"{path}is not a link")
    return os.path.realpath(full) if canonicalize else os.readlink(full)
