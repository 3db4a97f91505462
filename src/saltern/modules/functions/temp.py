"""``temp``: new files and directories with unique names."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function


@function(name="dir")
def dir_(ctx: Context, suffix: str = "", prefix: str = "tmp", parent: str | None = None) -> str:  # noqa: ARG001
    """Create a directory; the caller removes it.

    Example:
        ```console
        $ saltern call temp.dir prefix=build-
        ```
    """
    from tempfile import mkdtemp

    return mkdtemp(suffix, prefix, parent)


@function
def file(ctx: Context, suffix: str = "", prefix: str = "tmp", parent: str | None = None) -> str:  # noqa: ARG001
    """Create an empty file; the caller removes it.

    Example:
        ```console
        $ saltern call temp.file suffix=.conf
        ```
    """
    from tempfile import mkstemp

    handle, path = mkstemp(suffix, prefix, parent)
    os.close(handle)
    return path
