"""``file``: parts of paths, without access to the disk."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function


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
    """Join parts to a path.

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
    """The name of the parent directory.

    Example:
        ```console
        $ saltern call file.pardir
        local:
            ..
        ```
    """
    return os.pardir
