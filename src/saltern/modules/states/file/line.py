"""``file.line``: one line, ensured, replaced, inserted or deleted."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.lib.files.edit import Edit, backup_suffix, edit
from saltern.modules.lib.files.line_change import Order, changer
from saltern.modules.lib.files.owners import asked
from saltern.system.files import KEPT

Mode = str


@state(name_is="path")
def line(
    ctx: Context,
    name: str,
    *,
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
    create: bool = False,
    user: str | None = None,
    group: str | None = None,
    file_mode: Mode | None = None,
) -> Result:
    """Manage one line of a file.

    Args:
        name: the absolute path of the file.
        content: the line.
        match: a regular expression or text of the line to replace or delete; ``content`` if not given.
        mode: ``ensure`` puts the line right after ``after`` and before ``before``; ``insert`` adds it at
            ``location``, or before or after a line; ``replace`` and ``delete`` work on the line that matches.
        location: ``start`` or ``end``, for ``insert``.
        before, after: regular expressions (or plain text) for the lines around it.
        show_changes: False keeps the difference out of the result.
        backup: True or a suffix keeps a copy of the old file.
        quiet: a missing file is fine.
        indent: give the line the indentation of the line it goes by.
        create: create the file if it is missing, with ``user``, ``group`` and ``file_mode``.

    A line that is already in its place is not added again.

    Example:
        ```yaml
        /etc/app.conf:
          file.line:
            - mode: ensure
            - content: host = localhost
            - after: ^port
        ```
    """
    ctx.facts = {"path": name}
    order = Order(content or "", match or content or "", location or "", before or "", after or "", indent)
    how = Edit(
        path=name,
        backup=backup_suffix(backup),
        show_changes=show_changes,
        create=create,
        ignore_missing=quiet and not create,
        attributes=asked(ctx, user, group, file_mode, []) if create else KEPT,
    )
    return edit(ctx, how, changer(mode, order))
