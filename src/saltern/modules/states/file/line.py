"""``file.line``: ensure, replace, insert or delete one line."""

from __future__ import annotations

import os
import time

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import result_of
from saltern.modules.api.declare import state
from saltern.modules.lib.files.edit import USUAL, Edit, backup_suffix, edit
from saltern.modules.lib.files.facts import absolute, facts
from saltern.modules.lib.files.line_change import Order, changer
from saltern.modules.lib.files.owners import asked_attributes, attribute_changes
from saltern.system import files
from saltern.system.files import Attributes

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
        content: the line; an empty text is an empty line. Several lines are kept together.
        match: a regular expression or text of the line to replace or delete; ``content`` if neither this
            nor ``before`` nor ``after`` is given.
        mode: ``ensure`` puts the line right after ``after`` and before ``before``; ``insert`` adds it at
            ``location``, or before or after a line; ``replace`` and ``delete`` work on the line that matches.
        location: ``start`` or ``end``, for ``insert``; it takes precedence over ``before`` and ``after``.
        before, after: regular expressions (or plain text) for the lines around it, for ``ensure`` and
            ``insert``; if the file has only one of the two, that one decides.
        show_changes: False leaves the difference out of the result.
        backup: True keeps a copy of the old file with the date in its name; a text is the suffix of the copy.
        quiet: succeed if the file is missing.
        indent: give the line the indentation of its neighbour.
        create: create the file if it is missing.
        user, group, file_mode: the owner and mode of the file.

    A line that is already in the right position is not added again.

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
    sought = match or ("" if before or after else content) or ""
    order = Order(content or "", sought, location or "", before or "", after or "", indent)
    attributes = asked_attributes(ctx, user, group, file_mode, [])
    how = Edit(
        path=name,
        backup=_copy_suffix(ctx, backup),
        show_changes=show_changes,
        create=create,
        ignore_missing=quiet and not create,
        attributes=attributes,
    )
    change = changer(mode, order, empty=content is not None)
    found = files.look(absolute(name), follow=True)
    result = edit(ctx, how, change)
    if found is None:
        return result
    wrong = attribute_changes(found, attributes, user=user, group=group, mode=file_mode)
    return _with_attributes(ctx, name, result, attributes, wrong) if wrong else result


def _copy_suffix(ctx: Context, backup: object) -> str:
    """``True`` means the date, as Salt has it."""
    if backup is True or str(backup).lower() == "true":
        return time.strftime(".%Y-%m-%d-%H-%M-%S", time.localtime(ctx.clock.now()))
    return backup_suffix(backup)


def _with_attributes(
    ctx: Context, path: str, result: Result, attributes: Attributes, wrong: dict[str, object]
) -> Result:
    """Set owner and mode of a file that was there before."""
    if not ctx.test:
        files.set_attributes(path, attributes)
    words = result.comment if result.changes else USUAL
    data = result.data if ctx.test else facts(ctx, path, os.stat(path))
    return result_of(ctx, result.changes | wrong, words, {**result.data, **data})
