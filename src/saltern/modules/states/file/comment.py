"""``file.comment`` and ``file.uncomment``: comment lines out, and back in."""

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
        regex: the start of the lines; ``^`` allows no white space before it, ``$`` nothing after it.
        char: the comment sign.
        backup: the suffix of a copy of the old file, or False.
        ignore_missing: succeed if no line matches.

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
        "All matching lines are already comments",
        f"File {name} is set to be updated",
        "The lines are now comments",
    )
    if ignore_missing:
        words = Words("No line to comment out", words.would, words.done)
    how = Edit(path=name, backup=backup_suffix(backup), words=words)
    return edit(
        ctx,
        how,
        forms.change(forms.plain, lambda hit: f"{hit[1]}{char}{hit[2]}", forms.commented, ignore_missing),
    )


@state(name_is="path")
def uncomment(ctx: Context, name: str, *, regex: str, char: str = "#", backup: object = ".bak") -> Result:
    """Remove the comment sign from lines.

    Args:
        name: the absolute path of the file.
        regex: the start of the lines after the comment sign and white space, which stays.
        char: the comment sign.
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
        "The lines are no longer comments",
    )
    how = Edit(path=name, backup=backup_suffix(backup), words=words)
    change = forms.change(forms.commented, lambda hit: f"{hit[1]}{hit[2]}", forms.indented, False)
    return edit(ctx, how, change)
