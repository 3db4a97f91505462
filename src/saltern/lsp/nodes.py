"""Reads the lines of a state file as a tree, by indentation alone.

No YAML parser can read a file that is being typed, or one that is YAML only after rendering. So each line is
read separately: its dashes, its key, its value, and by its column the keys above it. Lines of templates are
skipped, so all branches of an ``if`` are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from saltern.language.delayed import MARKER
from saltern.language.source import SlsRef
from saltern.lint.page import Line, Page
from saltern.lsp.positions import Span
from saltern.sources.tree import SlsSource

_TEMPLATE = re.compile(r"\{\{.*?(?:\}\}|$)|\{%.*?(?:%\}|$)|\{#.*?(?:#\}|$)")
_KEYED = re.compile(
    r"(?P<key>'(?:[^']|'')*'|\"(?:[^\"\\]|\\.)*\"|[^\s'\"#\[{&*!|>@`-](?:[^#]|(?<=\S)#)*?|-(?=\S)[^#]*?)"
    r"[ ]*:(?:[ ]+(?P<value>.*))?"
)
_DASHES = re.compile(r"[ ]*(?P<dashes>(?:-[ ]+|-$)*)")
_COMMENT = re.compile(r"(?:^|[ ]+)#.*$")
_BLOCK = re.compile(r"(?:#!|\{%[-+]?[ \t]*)(?P<end>end_)?delayed_block\b[ \t]*(?P<name>[^\s%]*)")
MASK = "\ue000"  # replaces each character of a template tag


class Word(Struct, frozen=True):
    """A key or a value, without its quotes. ``dynamic``: a template is part of it."""

    text: str
    span: Span
    dynamic: bool = False


class Node(Struct, frozen=True, kw_only=True):
    """One line of YAML. ``path`` are the keys above it; ``item``: it begins with a dash.

    ``row`` counts from 0. ``block`` names the delayed block it is in, with those around it.
    """

    row: int
    column: int
    path: tuple[str, ...]
    key: Word | None
    value: Word | None
    item: bool = False
    block: tuple[str, ...] = ()


class Level(Struct):
    column: int
    key: str  # empty: a dash
    is_list: bool = False


class Tag(Struct, frozen=True):
    """Where a delayed block begins or ends. ``name`` is as written there."""

    row: int
    name: Word
    ends: bool
    block: tuple[str, ...]


class Reader:
    """Reads line by line; ``stack`` has the keys that the next line may be below."""

    def __init__(self) -> None:
        self.stack: list[Level] = []
        self.blocks: list[str] = []
        self.tags: list[Tag] = []
        self._kept: list[list[Level]] = []

    def tag(self, line: Line) -> None:
        """Enter or leave a block. A block is a text of its own; after it, the keys above it apply again."""
        found = _BLOCK.match(line.text)
        if found is None:
            return
        name = Word(found["name"], _shift_span(found.span("name"), line.start))
        if not found["end"]:
            self._kept.append(self.stack)
            self.stack = []
            self.blocks.append(found["name"])
        self.tags.append(Tag(line.number - 1, name, bool(found["end"]), tuple(self.blocks)))
        if found["end"] and self.blocks:
            self.blocks.pop()
            self.stack = self._kept.pop()

    def read(self, line: Line) -> Node:
        """The node of a line of YAML; later lines may be below it."""
        masked = _TEMPLATE.sub(lambda tag: MASK * len(tag[0]), line.text)
        masked = _COMMENT.sub("", masked).rstrip()
        dashes = _DASHES.match(masked)
        assert dashes is not None  # it also matches an empty text
        first = len(masked) - len(masked.lstrip(" "))
        column = dashes.end()
        self._leave(first, bool(dashes["dashes"]))
        for at in [dashes.start("dashes") + at for at, one in enumerate(dashes["dashes"]) if one == "-"]:
            self.stack.append(Level(at, "", is_list=True))
        keyed = _KEYED.fullmatch(masked, column)
        path = tuple(level.key for level in self.stack if level.key)
        key = value = None
        if keyed:
            key = _word(line, masked, *keyed.span("key"))
            self.stack.append(Level(column, key.text))
            if keyed["value"]:
                value = _word(line, masked, *keyed.span("value"))
        elif masked[column:]:
            value = _word(line, masked, column, len(masked))
        return Node(
            row=line.number - 1,
            column=column,
            path=path,
            key=key,
            value=value,
            item=bool(dashes["dashes"]),
            block=tuple(self.blocks),
        )

    def _leave(self, column: int, is_item: bool) -> None:
        """Drop the keys that a line in this column is not below. List items may be as far left as their
        key.
        """
        while self.stack:
            top = self.stack[-1]
            if top.column < column or (top.column == column and is_item and not top.is_list):
                return
            self.stack.pop()

    def below(self, column: int, is_item: bool) -> tuple[str, ...]:
        """The keys that a line in this column would be below."""
        kept = list(self.stack)
        self._leave(column, is_item)
        path = tuple(level.key for level in self.stack if level.key)
        self.stack = kept
        return path


def _word(line: Line, masked: str, start: int, end: int) -> Word:
    """The word at these columns; a closing quote may be missing."""
    end = start + len(masked[start:end].rstrip())
    quote = masked[start : start + 1]
    if quote in ("'", '"') and end > start:
        start += 1
        end -= end > start and masked[end - 1] == quote
    return Word(line.text[start:end], _shift_span((start, end), line.start), MASK in masked[start:end])


def _shift_span(span: tuple[int, int], by: int) -> Span:
    return Span(span[0] + by, span[1] + by)


def page_of(text: str, path: str, pipe: str) -> Page:
    """A text in the form for the rules of ``check``."""
    return Page(SlsSource(SlsRef("base", ""), path, "", text), pipe)


def nodes(page: Page, reader: Reader) -> Iterator[Node]:
    """All lines of YAML; ``reader`` collects the tags of blocks."""
    tagged = f"{MARKER}_block" in page.text
    for line in page.lines:
        if line.kind == "yaml":
            yield reader.read(line)
        elif tagged and line.kind in ("comment", "template"):
            reader.tag(line)
