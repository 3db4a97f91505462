"""``file``: change lines of a file: replace, line, comment, uncomment."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import absolute, explain_errors
from saltern.modules.functions.file.write import codec_of, read_text, write_text
from saltern.modules.lib.files.comment_forms import Forms
from saltern.modules.lib.files.diffs import unified_diff_of
from saltern.modules.lib.files.edit import backup_suffix
from saltern.modules.lib.files.line_change import Order, changer
from saltern.modules.lib.files.patterns import compile_pattern
from saltern.modules.lib.files.replacement import flag_bits, replacer
from saltern.modules.lib.files.write import back_up
from saltern.system import files


def _write_edit(
    ctx: Context, path: str, new: str, backup: object, show: bool = True, encoding: str | None = None
) -> str | bool:
    """Write the text if it differs. Returns the difference, or whether there was one."""
    full = absolute(path)
    seen = files.see(full)
    if seen is None or seen.data is None:
        raise BadArgument(f"{path}: no such file")
    old = seen.data.decode(*codec_of(encoding))
    if new == old:
        return "" if show else False
    back_up(ctx, full, seen, backup_suffix(backup))
    write_text(full, new, encoding)
    return unified_diff_of(old, new) if show else True


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
    """Replace the matches of a regular expression. Returns the difference, or true or false with
    ``search_only``.

    ``encoding`` is that of the file, if not UTF-8.

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
        search = compile_pattern(pattern, flag_bits(flags))
        old = read_text(full, encoding)
        if search_only:
            return search.search(old) is not None
        new = replacer(search, str(repl), int(count), backslash_literal, put, str(extra))(old)
        if dry_run:
            return unified_diff_of(old, new) if show_changes else new != old
        return _write_edit(ctx, path, new, backup, show_changes, encoding)


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
    """Ensure, insert, replace or delete a line, like the state ``file.line``.

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
        return _write_edit(ctx, path, changer(mode, order)(read_text(full)), backup, show_changes)


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
            read_text(absolute(path))
        )
        return _write_edit(ctx, path, new, backup)


@function
def uncomment(ctx: Context, path: str, regex: str, char: str = "#", backup: object = ".bak") -> str | bool:
    """Remove the comment sign from lines.

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
            read_text(absolute(path))
        )
        return _write_edit(ctx, path, new, backup)
