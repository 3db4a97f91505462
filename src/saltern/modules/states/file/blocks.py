"""``file.blockreplace``: the lines between two markers."""

from __future__ import annotations

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.params import Variables
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.diffs import lines_of
from saltern.modules.lib.files.edit import Edit, backup_suffix, edit, end_line
from saltern.modules.lib.files.patterns import compile_pattern
from saltern.modules.states.file.accumulated import required_for
from saltern.modules.states.file.append import NO_TEMPLATE, texts


@state(name_is="path")
def blockreplace(
    ctx: Context,
    /,
    name: str,
    *,
    marker_start: str = "#-- start managed zone --",
    marker_end: str = "#-- end managed zone --",
    source: str | None = None,
    source_hash: str | None = None,
    template: str | None = "jinja",
    sources: list[object] | None = None,
    source_hashes: list[object] | None = None,
    defaults: object = None,
    context: object = None,
    content: str = "",
    append_if_not_found: bool = False,
    prepend_if_not_found: bool = False,
    backup: object = ".bak",
    show_changes: bool = True,
    append_newline: bool | None = None,
    insert_before_match: str | None = None,
    insert_after_match: str | None = None,
    **variables: Variables,
) -> Result:
    """Manage the lines between two markers; the rest of the file stays unchanged.

    Args:
        name: the absolute path of the file.
        marker_start, marker_end: texts in the lines before and after the block. These lines stay.
        content: the content of the block.
        source, sources, source_hash, source_hashes, template, defaults, context: take the content from files
            instead, rendered.
        **variables: further arguments are variables for the template of ``source`` or ``sources``.
        append_if_not_found, prepend_if_not_found: add a missing block at the end or the start of the file.
        insert_before_match, insert_after_match: add a missing block before or after the first line that
            matches this.
        append_newline: True always adds a newline to the content, False never; if not set,
            only if the content does not end with one.
        backup: the suffix of a copy of the old file, or False.
        show_changes: False leaves the difference out of the result.

    Texts collected by ``file.accumulated`` for this file are added to the content.

    Example:
        ```yaml
        /etc/app.conf:
          file.blockreplace:
            - marker_start: '# start of the users'
            - marker_end: '# end of the users'
            - append_if_not_found: true
            - content: |
                user = ada
                user = deploy
        ```
    """
    ctx.facts = {"path": name}
    body = content
    if source is not None or sources is not None:
        body = "".join(
            texts(
                ctx,
                name,
                None,
                source,
                source_hash,
                sources,
                source_hashes,
                template,
                context,
                defaults,
                variables,
            )
        )
    elif variables:
        raise Refused(NO_TEMPLATE.format(next(iter(variables))))
    for collected in required_for(ctx, name).values():
        body = "\n".join([*([body] if body else []), *map(str, collected)])
    where = {
        "append": append_if_not_found,
        "prepend": prepend_if_not_found,
        "before": insert_before_match,
        "after": insert_after_match,
    }
    block = Block(marker_start, marker_end, body, append_newline, _place(where))
    how = Edit(path=name, backup=backup_suffix(backup), show_changes=show_changes)
    return edit(ctx, how, block.change)


def _place(where: dict[str, bool | str | None]) -> tuple[str, str]:
    chosen = [(place, pattern) for place, pattern in where.items() if pattern]
    if len(chosen) > 1:
        raise Refused(
            "only one of append_if_not_found, prepend_if_not_found, insert_before_match and"
            " insert_after_match may be given"
        )
    return (chosen[0][0], str(chosen[0][1])) if chosen else ("", "")


def _line_end(lines: list[str]) -> str:
    """The ending of the first line of the file; that of this system if the file has no lines."""
    return "\r\n" if lines and lines[0].endswith("\r\n") else "\n"


def _with_ends(text: str, end: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", end)


class Block(Struct, frozen=True):
    """The lines between the markers, with the line ending of the file."""

    start: str
    end: str
    content: str
    newline: bool | None
    place: tuple[str, str]

    def change(self, old: str) -> str:
        if not self.start or not self.end:
            raise Refused("marker_start and marker_end must not be empty")
        lines = lines_of(old)
        if any(self.start in line for line in lines):
            return self._replace(lines, _line_end(lines))
        return self._insert(lines, _line_end(lines))

    @property
    def body(self) -> str:
        if self.newline is None:
            return self.content if self.content.endswith("\n") else f"{self.content}\n"
        return f"{self.content}\n" if self.newline else self.content

    def _replace(self, lines: list[str], end: str) -> str:
        """Give every block the content. Of several start markers before an end, the last one begins it."""
        result: list[str] = []
        inside = False
        for line in lines:
            starts = self.start in line and not (inside and self.start in self.content)
            if starts or not inside:
                result.append(line)
                inside = starts
            elif self.end in line:
                result += [_with_ends(self.body, end), self._end_line(line).rstrip("\r\n") + end]
                inside = False
        if inside:
            raise Refused(f"the block is not terminated: {self.end!r} does not follow {self.start!r}")
        return "".join(result)

    def _end_line(self, line: str) -> str:
        before, marker, after = line.partition(self.end)
        keep = self.newline is not False and not before.strip()
        return (before if keep else "") + marker + after

    def _insert(self, lines: list[str], end: str) -> str:
        place, pattern = self.place
        block = _with_ends(f"{self.start}\n{self.body}{self.end}\n", end)
        if place == "append":
            return end_line("".join(lines), end) + block
        if place == "prepend":
            return block + "".join(lines)
        at = self._anchor(lines, pattern) if place else None
        if at is None:
            raise Refused(
                "markers were not found in the file; set append_if_not_found: True to add the block"
            )
        if place == "after":
            at += 1
        return end_line("".join(lines[:at]), end) + block + "".join(lines[at:])

    def _anchor(self, lines: list[str], pattern: str) -> int | None:
        search = compile_pattern(pattern)
        return next((at for at, line in enumerate(lines) if search.search(line.rstrip("\r\n"))), None)
