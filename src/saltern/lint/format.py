"""Formats a state file: indentation, blank lines and spaces, without changing its meaning.

The rules: a list is two columns right of the line it belongs to, a mapping two columns right of its key; one
blank line between the entries of a file; no blanks at the end of a line; one space inside ``{{ }}`` and ``{%
%}``. The meaning of the text is compared before and after: if it differs, the file stays unchanged. Where a
template inserts lines, as a macro does, the indentation matters, and all of it is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from saltern.lint.page import Line, Page, tags

STEP = 2
_DASH = re.compile(r"-(?:[ ]+|$)")
_TAG = re.compile(r"(\{%[-+]?|\{\{[-+]?)[ ]*((?:[^\n%}]|%(?!\})|\}(?!\}))*?)[ ]*([-+]?%\}|[-+]?\}\})")
_KEEP = re.compile(r"[|>][0-9-]*\+")  # a block scalar whose final blank lines count
# Templates that insert lines with their own indentation, or change that of other lines.
_FIXED = re.compile(
    r"-%\}|-\}\}|\bindent\b|\{%[-+]?\s*(?:include|macro|call|filter|set\s+\w+\s*[-+]?%\})|^\s*\{\{[^\n]*\}\}\s*$",
    re.MULTILINE,
)


class Open(Struct):
    """A list or a mapping that the next line may be part of, by its column before and after."""

    kind: str
    old: int
    new: int
    line: int = 0  # the new indentation of the line of its last key
    key: int = 0  # the new column of that key


def format_page(page: Page) -> str:
    """The formatted text of a file; unchanged if formatting would change its meaning."""
    if not page.is_yaml or "\t" in page.text or "\r" in page.text:
        return page.text
    wanted = meaning(page.text)
    as_they_are = [line.text for line in page.lines]
    fixed = page.is_jinja and _FIXED.search(page.text)
    for lines in (as_they_are if fixed else _indent_lines(page.lines), as_they_are):
        text = _space_entries(lines, page.lines)
        if page.is_jinja:
            text = _tags(text, page)
        if wanted is not None and meaning(text) == wanted:
            return text
    return page.text


# -- indentation ---------------------------------------------------------------------------------------


def _indent_lines(lines: list[Line]) -> list[str]:
    """The lines, indented by their depth; lines that continue a value move with it."""
    stack: list[Open] = []
    moved: list[str] = []
    waiting: list[int] = []  # comments, which take the column of the line below them
    shift = 0
    for line in lines:
        text = line.text
        if line.kind == "yaml":
            old = len(text) - len(text.lstrip(" "))
            text, new = _place_line(text.strip(" "), old, stack)
            shift = new - old
            for number in waiting:
                moved[number] = " " * new + moved[number].lstrip(" ")
            waiting = []
        elif line.kind == "scalar":
            text = _shift(text, shift)
        elif line.kind == "comment":
            waiting.append(len(moved))
        moved.append(text)
    return moved


def _place_line(body: str, old: int, stack: list[Open]) -> tuple[str, int]:
    """One line of YAML, and its new indentation."""
    made = ""
    indent = -1
    while dash := _DASH.match(body):
        column = _column(stack, "list", old, indent)
        indent = column if indent < 0 else indent
        made += " " * (column - len(made)) + "- "
        old += dash.end()
        body = body[dash.end() :]
        stack[-1].line, stack[-1].key = indent, column
    if body:
        column = _column(stack, "mapping", old, indent)
        indent = column if indent < 0 else indent
        made += " " * (column - len(made)) + body
        stack[-1].line, stack[-1].key = indent, column
    return made.rstrip(" "), max(indent, 0)


def _column(stack: list[Open], kind: str, old: int, indent: int) -> int:
    """The new column of a dash or of a key, which was in the column ``old``."""
    while stack and (stack[-1].old > old or (stack[-1].old == old and _ends(stack[-1].kind, kind))):
        stack.pop()
    if stack and stack[-1].old == old and stack[-1].kind == kind:
        return stack[-1].new
    new = 0
    if stack:
        above = stack[-1]
        if indent >= 0 and above.kind == "list" and above.key >= indent:  # on the same line as its dash
            new = above.key + STEP
        else:
            new = above.line + STEP if kind == "list" else above.key + STEP
    stack.append(Open(kind, old, new))
    return new


def _ends(open_: str, kind: str) -> bool:
    """A key in the column of a list's dashes ends the list."""
    return open_ == "list" and kind == "mapping"


def _shift(text: str, by: int) -> str:
    own = len(text) - len(text.lstrip(" "))
    return " " * max(own + by, 0) + text[own:]


# -- blank lines and blanks ----------------------------------------------------------------------------


def _space_entries(texts: list[str], lines: list[Line]) -> str:
    """Join the lines without trailing white space, with blank lines between entries."""
    made: list[str] = []
    for text, line, inside in zip(texts, lines, _inside(lines), strict=True):
        if inside:
            made.append(text)
        elif line.kind == "blank":
            if made and made[-1]:
                made.append("")
        else:
            if _begins(text, line) and made:
                _separate(made)
            made.append(text if line.kind == "scalar" else text.rstrip(" "))
    return "\n".join(made).strip("\n") + "\n" if any(made) else ""


def _inside(lines: list[Line]) -> Iterator[bool]:
    """For each line, True if it is blank and part of a value, which must not change."""
    keeps = False
    for number, line in enumerate(lines):
        if line.kind == "yaml":
            keeps = bool(_KEEP.search(line.text))
        if line.kind != "blank":
            yield False
            continue
        below = next((one.kind for one in lines[number + 1 :] if one.kind != "blank"), "")
        yield below == "scalar" or keeps


def _begins(text: str, line: Line) -> bool:
    return line.kind == "yaml" and text[:1] not in (" ", "-", "")


def _separate(made: list[str]) -> None:
    """Add a blank line before an entry, above the comments and tags directly above it."""
    at = len(made)
    while at and made[at - 1].lstrip(" ").startswith(("#", "{%", "{#")) and not _closes(made[at - 1]):
        at -= 1
    own = made[at - 1] if at else ""
    if at and own and (own[0] == " " or _closes(own)):  # the entry above has lines of its own
        made.insert(at, "")


def _closes(text: str) -> bool:
    return bool(re.match(r" *\{%[-+]? *end", text))


def _tags(text: str, page: Page) -> str:
    """Put one space inside of tags that are on one line and not in the text of a value."""
    if "{%raw" in text.replace(" ", "").replace("-", ""):
        return text
    raw = {line.text.strip() for line in page.lines if line.kind == "scalar"}
    return "\n".join(
        line if line.strip() in raw or line.lstrip().startswith("{#") else _TAG.sub(r"\1 \2 \3", line)
        for line in text.split("\n")
    )


# -- meaning -------------------------------------------------------------------------------------------


def meaning(text: str) -> list[tuple[str, ...]] | None:
    """The tokens of the text, without its layout; None if it is not YAML, whatever its templates render to.

    A template tag on its own line is left out, and one within a line is a word: whatever they render to, they
    are in the same places before and after.
    """
    from saltern.render.yaml_events import events

    seen: list[str] = []
    kept: list[str] = []
    last = 0
    for start, end in tags(text):
        tag = text[start:end]
        head, tail = 2 + (tag[2:3] in ("-", "+")), 2 + (tag[-3:-2] in ("-", "+"))
        seen.append(f"{tag[:head]}{tag[head:-tail].strip()}{tag[-tail:]}")
        kept += [text[last:start], f"template{len(seen)}" if tag.startswith("{{") else ""]
        last = end
    found = events("".join([*kept, text[last:]]))
    return None if found is None else [*found, *((tag,) for tag in seen)]
