"""``file.pruned``: remove empty directories."""

from __future__ import annotations

from saltern.language.result import Result, failed
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute, facts
from saltern.modules.lib.files.prune import prunable
from saltern.system import files


@state
def pruned(
    ctx: Context,
    name: str,
    *,
    recurse: bool = False,
    ignore_errors: bool = False,
    older_than: float | None = None,
) -> Result:
    """Remove a directory if it is empty.

    Args:
        name: the absolute path of the directory.
        recurse: first remove the empty directories below it, then the directory if it is empty.
        ignore_errors: do not fail for a directory that is not empty; still remove the empty ones below it.
        older_than: only directories not changed for this many days.

    Example:
        ```yaml
        /srv/app/releases:
          file.pruned: []
        ```
    """
    ctx.facts = {"path": name}
    return _prune(ctx, absolute(name), recurse, ignore_errors, older_than)


def _prune(ctx: Context, path: str, recurse: bool, ignore_errors: bool, older_than: float | None) -> Result:
    found = files.look(path)
    if found is None or files.kind_of(found) not in ("directory", "link"):
        return result_of(ctx, {}, f"Directory {path} is not present", facts(ctx, path, found))
    if files.kind_of(found) == "link":
        raise Refused(f"{path} is not a directory, but a link")
    deep = recurse or ignore_errors
    todo = prunable(path, recurse=deep, older_than=older_than, now=ctx.clock.now())
    if not ctx.test:
        for victim in todo.deleted:
            files.remove(victim, tree=False)
    known = facts(ctx, path, files.look(path))
    if todo.errors and not ignore_errors:
        changes: dict[str, object] = {"deleted": todo.deleted, "errors": todo.errors}
        return failed(f"Failed to remove directory {path}: it is not empty", changes=changes, **known)
    if not todo.deleted:
        return result_of(ctx, {}, f"Nothing to remove in {path}", known)
    done = f"Recursively removed empty directories under {path}" if deep else f"Removed directory {path}"
    gone: dict[str, object] = {"deleted": sorted(todo.deleted) if deep else path}
    return result_of(ctx, gone, Words(would=f"Directory {path} is set for removal", done=done), known)
