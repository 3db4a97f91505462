"""The position of a cursor: in a template, in a key, in a value, and below which keys."""

from __future__ import annotations

import re

from msgspec import Struct

from saltern.lint.page import Line, Page
from saltern.lsp.nodes import Reader
from saltern.lsp.positions import Span

_OPENED = re.compile(r"\{[{%]")
_CLOSED = re.compile(r"[}%]\}")
_WRITTEN = re.compile(r"(?P<indent>[ ]*)(?P<dashes>(?:-[ ]+)*)(?P<rest>.*)")
_VALUE = re.compile(r"(?P<key>'[^']*'|\"[^\"]*\"|[^\s'\"#:][^#:]*?):[ ]+(?P<value>.*)")


class Cursor(Struct, frozen=True, kw_only=True):
    """``path`` are the keys above. ``typed`` is the part before the cursor of the word at ``span``.

    ``key`` is the key whose value is typed; empty for a key or an item. ``where``: template, yaml or other.
    """

    where: str
    typed: str
    span: Span
    before: str  # the line, up to the cursor
    after: str = ""  # and after it
    path: tuple[str, ...] = ()
    key: str = ""
    item: bool = False
    indent: int = 0
    block: tuple[str, ...] = ()


def at(page: Page, place: int) -> Cursor:
    """The cursor at an offset in the text."""
    line = next((one for one in reversed(page.lines) if one.start <= place), page.lines[0])
    before = line.text[: place - line.start]
    after = line.text[len(before) :]
    if page.is_jinja and _in_template(page.text, place):
        return Cursor(where="template", typed="", span=Span(place, place), before=before, after=after)
    if not page.is_yaml or line.kind in ("scalar", "comment", "template") or "\t" in before:
        return Cursor(where="other", typed="", span=Span(place, place), before=before, after=after)
    return _in_yaml(page, line, before, after)


def _in_template(text: str, place: int) -> bool:
    """True if a template tag is open at this place. Only a few lines before it are searched."""
    start = max(place - 4000, 0)
    opened = closed = -1
    for found in _OPENED.finditer(text, start, place):
        opened = found.start()
    for found in _CLOSED.finditer(text, start, place):
        closed = found.start()
    return opened > closed


def _in_yaml(page: Page, line: Line, before: str, after: str) -> Cursor:
    reader = Reader()
    for one in page.lines[: line.number - 1]:
        if one.kind == "yaml":
            reader.read(one)
        elif one.kind in ("comment", "template"):
            reader.tag(one)
    written = _WRITTEN.fullmatch(before)
    assert written is not None  # it matches any line
    indent, dashes, rest = written["indent"], written["dashes"], written["rest"]
    if rest == "-":  # a dash, and nothing after it yet
        dashes, rest = "- ", ""
    path = reader.below(len(indent), bool(dashes))
    keyed = _VALUE.fullmatch(rest)
    typed = (keyed["value"] if keyed else rest).lstrip("'\"")
    end = line.start + len(before)
    return Cursor(
        where="yaml",
        typed=typed,
        span=Span(end - len(typed), end),
        before=before,
        after=after,
        path=path,
        key=keyed["key"].strip("'\"") if keyed else "",
        item=bool(dashes),
        indent=len(indent),
        block=tuple(reader.blocks),
    )
