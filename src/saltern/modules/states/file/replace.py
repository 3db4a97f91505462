"""``file.replace``: what matches a pattern becomes something else."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.edit import USUAL, Edit, backup_suffix, edit
from saltern.modules.lib.files.patterns import compiled
from saltern.modules.lib.files.replacement import flag_bits, replacer


@state(name_is="path")
def replace(
    ctx: Context,
    name: str,
    *,
    pattern: str,
    repl: str,
    count: int = 0,
    flags: object = 8,
    append_if_not_found: bool = False,
    prepend_if_not_found: bool = False,
    not_found_content: str | None = None,
    backup: object = ".bak",
    show_changes: bool = True,
    ignore_if_missing: bool = False,
    backslash_literal: bool = False,
    encoding: str | None = None,
) -> Result:
    r"""Replace what matches a regular expression, in the whole file at once.

    Args:
        name: the absolute path of the file.
        pattern: the regular expression (Python's).
        repl: what to put there; ``\1`` stands for a group.
        count: how many matches to replace; 0 is all.
        flags: names such as ``MULTILINE``, ``IGNORECASE``, ``DOTALL``, in a list; ``MULTILINE`` if not given.
        append_if_not_found, prepend_if_not_found: add a line if nothing matches and it is not there yet.
        not_found_content: that line, where it is not ``repl``.
        backup: the suffix of a copy of the old file, or False.
        show_changes: False keeps the difference out of the result.
        ignore_if_missing: a missing file is fine.
        backslash_literal: take backslashes in ``repl`` as they are.
        encoding: the encoding of the file.

    Example:
        ```yaml
        /etc/app.conf:
          file.replace:
            - pattern: ^port = .*
            - repl: port = 8080
            - append_if_not_found: true
        ```
    """
    ctx.facts = {"path": name}
    search = compiled(pattern, flag_bits(flags))
    if append_if_not_found and prepend_if_not_found:
        raise Refused("append_if_not_found and prepend_if_not_found exclude each other")
    extra = repl if not_found_content is None else not_found_content
    put = "append" if append_if_not_found else "prepend" if prepend_if_not_found else ""
    how = Edit(
        path=name,
        backup=backup_suffix(backup),
        show_changes=show_changes,
        ignore_missing=ignore_if_missing,
        encoding=encoding or "utf-8",
        words=Words(USUAL.already, "Changes would have been made", USUAL.done),
    )
    return edit(ctx, how, replacer(search, repl, count, backslash_literal, put, extra))
