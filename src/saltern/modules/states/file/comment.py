"""``file.comment`` and ``file.uncomment``: lines taken out of use and back."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words
from saltern.modules.api.declare import state
from saltern.modules.lib.files.comment_forms import Forms
from saltern.modules.lib.files.edit import Edit, backup_suffix, edit


@state(name_is="path")
def comment(
    ctx: Context,
    name: str,
    *,
    regex: str,
    char: str = "#",
    backup: object = ".bak",
    ignore_missing: bool = False,
) -> Result:
    """Comment lines out.

    Args:
        name: the absolute path of the file.
        regex: what a line starts with; ``^`` allows no white space before it, ``$`` nothing after it.
        char: what makes a comment.
        backup: the suffix of a copy of the old file, or False.
        ignore_missing: no such line is fine.

    Example:
        ```yaml
        /etc/app.conf:
          file.comment:
            - regex: ^port
        ```
    """
    ctx.facts = {"path": name}
    forms = Forms.of(regex, char)
    words = Words(
        "All matching lines are comments already",
        f"File {name} is set to be updated",
        "The lines are comments now",
    )
    if ignore_missing:
        words = Words("No line to make a comment of", words.would, words.done)
    how = Edit(path=name, backup=backup_suffix(backup), words=words)
    return edit(
        ctx,
        how,
        forms.change(forms.plain, lambda hit: f"{hit[1]}{char}{hit[2]}", forms.commented, ignore_missing),
    )


@state(name_is="path")
def uncomment(ctx: Context, name: str, *, regex: str, char: str = "#", backup: object = ".bak") -> Result:
    """Take the comment sign from lines.

    Args:
        name: the absolute path of the file.
        regex: what the line starts with after the comment sign and white space, which stays.
        char: what makes a comment.
        backup: the suffix of a copy of the old file, or False.

    Example:
        ```yaml
        /etc/app.conf:
          file.uncomment:
            - regex: ^debug
        ```
    """
    ctx.facts = {"path": name}
    forms = Forms.of(regex, char)
    words = Words(
        "No matching line is a comment",
        f"File {name} is set to be updated",
        "The lines are no comments any more",
    )
    how = Edit(path=name, backup=backup_suffix(backup), words=words)
    change = forms.change(forms.commented, lambda hit: f"{hit[1]}{hit[2]}", forms.indented, False)
    return edit(ctx, how, change)
