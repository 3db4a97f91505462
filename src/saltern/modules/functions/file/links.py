"""``file``: symbolic and hard links."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import absolute, explain_errors
from saltern.system import files


@function
def symlink(
    ctx: Context, src: str, path: str, force: bool = False, atomic: bool = False, follow_symlinks: bool = True
) -> bool:
    """Create a link at ``path`` that points to ``src``.

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
    raise BadArgument(f"{path} already exists; set force=True to replace it")


@function
def link(ctx: Context, src: str, path: str) -> bool:
    """Create a hard link at ``path`` to the file ``src``.

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
