"""``file.replace``: replace the matches of a pattern."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.edit import USUAL, Edit, backup_suffix, edit
from saltern.modules.lib.files.patterns import compile_pattern
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
    r"""Replace the matches of a regular expression in a file.

    The expression is matched against the whole text, not line by line.

    Args:
        name: the absolute path of the file.
        pattern: the regular expression (Python's).
        repl: the replacement; ``\1`` refers to a group.
        count: how many matches to replace; 0 means all.
        flags: names such as ``MULTILINE``, ``IGNORECASE``, ``DOTALL``, in a list; ``MULTILINE`` if not given.
        append_if_not_found, prepend_if_not_found: add a line if nothing matches and the line is missing.
        not_found_content: that line; ``repl`` if not given.
        backup: the suffix of a copy of the old file, or False.
        show_changes: False leaves the difference out of the result.
        ignore_if_missing: succeed if the file is missing.
        backslash_literal: take backslashes in ``repl`` literally.
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
    search = compile_pattern(pattern, flag_bits(flags))
    if append_if_not_found and prepend_if_not_found:
        raise Refused("append_if_not_found and prepend_if_not_found cannot be combined")
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
