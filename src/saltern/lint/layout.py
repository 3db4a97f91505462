"""Rules about the layout of a file, all of which ``--fix`` fixes."""

from __future__ import annotations

import re

from saltern.lint.findings import Edit, Findings
from saltern.lint.page import Page
from saltern.render.pipe import RENDERERS

_INDENT = re.compile(r"[ \t]*\t[ \t]*")
_SPACES = "  "  # replaces a tab
_TRAILING = re.compile(r"[ \t]+$")


def tab_indent(page: Page, found: Findings) -> None:
    if "\t" not in page.text or not page.is_yaml:
        return
    for line in page.lines:
        indent = _INDENT.match(line.text)
        if indent and line.kind in ("yaml", "comment"):
            found.warn(
                "tab-indent",
                "this line is indented with a tab; YAML allows only spaces",
                where=page.mark(line, line.text.index("\t")),
                fix="two spaces for each level",
                edit=page.edit(line, 0, indent.end(), indent[0].replace("\t", _SPACES)),
            )


def trailing_whitespace(page: Page, found: Findings) -> None:
    """Report trailing white space, except in the text of a value, where it has a meaning."""
    if not re.search(r"[ \t]\r?$", page.text, re.MULTILINE):
        return
    for line in page.lines:
        blanks = _TRAILING.search(line.text)
        if blanks and line.kind != "scalar" and not _before_scalar(page, line.number):
            found.warn(
                "trailing-whitespace",
                "this line ends with white space",
                where=page.mark(line, blanks.start()),
                fix="remove them",
                edit=page.edit(line, blanks.start(), blanks.end(), ""),
            )


def _before_scalar(page: Page, number: int) -> bool:
    """True if a blank line is in the text of a value, whatever its indentation."""
    if page.lines[number - 1].kind != "blank":
        return False
    after = next((line.kind for line in page.lines[number:] if line.kind != "blank"), "")
    return after == "scalar"


def missing_final_newline(page: Page, found: Findings) -> None:
    if page.text and not page.text.endswith("\n"):
        last = page.lines[-1]
        found.warn(
            "missing-final-newline",
            "the last line does not end with a newline",
            where=page.mark(last, len(last.text)),
            fix="add a newline",
            edit=None if last.kind == "scalar" else Edit(page.file, len(page.text), len(page.text), "\n"),
        )


def old_renderer_spelling(page: Page, found: Findings) -> None:
    first = page.text.partition("\n")[0].removesuffix("\r")
    data, _, template = first.removeprefix("#!").partition("_")
    if first.startswith("#!") and data in RENDERERS and template in RENDERERS:
        line = page.lines[0]
        found.warn(
            "old-renderer-spelling",
            f"{first[2:]!r} is the old spelling of a pipe of renderers",
            where=page.mark(line, 2),
            fix=f"write '#!{template}|{data}'",
            edit=page.edit(line, 2, len(first), f"{template}|{data}"),
        )
