"""``file.absent``, ``file.exists`` and ``file.missing``: whether a path exists."""

from __future__ import annotations

import os

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute, facts
from saltern.system import files


@state(removes=True, name_is="path")
def absent(ctx: Context, /, name: str, **_: Ignored) -> Result:
    """Remove a file, a link, or a directory with its contents.

    Of a link, only the link is removed, never its target.

    Args:
        name: the absolute path.

    Example:
        ```yaml
        /etc/app.ini:
          file.absent: []
        ```
    """
    ctx.facts = {"path": name}
    path = absolute(name)
    if os.path.normpath(path) in ("/", "//"):
        raise Refused(f"{path} is the root directory, which is not removed")
    found = files.look(path.rstrip("/"))
    if found is None:
        return result_of(ctx, {}, f"File {path} is not present", facts(ctx, path, None))
    kind = "directory" if files.kind_of(found) == "directory" else "file"
    known = facts(ctx, path, found)
    files.settle(path.rstrip("/"), follow=False)  # a planted link on the way is refused in test mode, too
    if not ctx.test:
        files.remove(path.rstrip("/"))
        known = facts(ctx, path, None)
    would = f"{kind.capitalize()} {path} is set for removal"
    return result_of(ctx, {"removed": path}, Words(would=would, done=f"Removed {kind} {path}"), known)


@state(name_is="path")
def exists(ctx: Context, /, name: str, **_: Ignored) -> Result:
    """Fail unless a path exists. Changes nothing.

    Args:
        name: the absolute path; a link exists if its target does.

    Example:
        ```yaml
        /etc/app.conf:
          file.exists: []
        ```
    """
    ctx.facts = {"path": name}
    path = absolute(name)
    found = files.look(path, follow=True)
    if found is None:
        return Result(
            outcome=Outcome.FAILED,
            comment=f"Specified path {path} does not exist",
            data=facts(ctx, path, None),
        )
    return result_of(ctx, {}, f"Path {path} exists", facts(ctx, path, found))


@state(name_is="path")
def missing(ctx: Context, /, name: str, **_: Ignored) -> Result:
    """Fail if a path exists. Changes nothing.

    Args:
        name: the absolute path; a broken link counts as missing.

    Example:
        ```yaml
        /etc/nologin:
          file.missing: []
        ```
    """
    ctx.facts = {"path": name}
    path = absolute(name)
    found = files.look(path, follow=True)
    if found is not None:
        return Result(
            outcome=Outcome.FAILED,
            comment=f"Specified path {path} exists",
            data=facts(ctx, path, found),
        )
    return result_of(ctx, {}, f"Path {path} is missing", facts(ctx, path, None))
