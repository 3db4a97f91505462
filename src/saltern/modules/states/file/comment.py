"""``file.comment`` and ``file.uncomment``: lines taken out of use and back."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.diffs import lines_of
from saltern.modules.lib.files.edit import Edit, Words, backup_suffix, edit
from saltern.modules.lib.files.patterns import compiled


@state
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


@state
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


class Forms(Struct, frozen=True):
    """The two forms of a line that a pattern means. Group 1 is its indentation, 2 what is said."""

    regex: str
    plain: re.Pattern[str]
    commented: re.Pattern[str]
    indented: re.Pattern[str]  # plain, with the white space that stood behind a comment sign

    @staticmethod
    def of(regex: str, char: str) -> Forms:
        compiled(regex)
        core = (
            regex.removeprefix("^").removesuffix("$")
            if not regex.endswith(r"\$")
            else regex.removeprefix("^")
        )
        indent = "" if regex.startswith("^") else r"[ \t]*"
        rest = "" if core != regex.removeprefix("^") else ".*"
        said = rf"((?:{core}){rest})"
        return Forms(
            core,
            compiled(rf"^({indent}){said}$"),
            compiled(rf"^([ \t]*){re.escape(char)}([ \t]*{said})$"),
            compiled(rf"^([ \t]*){said}$"),
        )

    def change(
        self,
        wrong: re.Pattern[str],
        right: Callable[[re.Match[str]], str],
        done: re.Pattern[str],
        ignore_missing: bool,
    ) -> Callable[[str], str]:
        """Bring every line of the ``wrong`` form into the ``right`` one."""

        def change(old: str) -> str:
            lines = [(line.rstrip("\r\n"), line) for line in lines_of(old)]
            found = [(body, line) for body, line in lines if wrong.match(body)]
            if not found and not ignore_missing and not any(done.match(body) for body, _ in lines):
                raise Refused(f"no line matches {self.regex!r}")
            return "".join(wrong.sub(right, body) + line[len(body) :] for body, line in lines)

        return change
