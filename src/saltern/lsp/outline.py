"""Finds the declarations and references in the text of a file, without rendering it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from msgspec import Struct, field

from saltern.language.delayed import WORDS as DELAYED
from saltern.language.requisites import REQUISITE_WORDS
from saltern.lint.page import Page
from saltern.lsp.nodes import Node, Reader, Word, nodes
from saltern.lsp.positions import Span

TOP_WORDS = ("include", "extend", "exclude")
_SALT_URL = re.compile(r"salt://([^\s'\"?|,{}\]]+)")
_IMPORTS = re.compile(r"\{%[-+]?\s*(?:from|import|include|extends|import_\w+)\s+(['\"])(?P<name>[^'\"\n]+)\1")
_LATE = re.compile(r"\$\{delayed:([\w-]+)")
_BRACKETED = re.compile(
    r"(?:(?P<kind>\w+):\s*)?['\"]?(?P<name>[^\s,\[\]{}:'\"][^,\[\]{}'\"]*?)['\"]?\s*(?=[,\]}])"
)
_CALLS = re.compile(r"\bsalt(?:\[['\"](?P<item>[\w.]+)['\"]\]|\.(?P<name>\w+\.\w+))")


class Declared(Struct, frozen=True, kw_only=True):
    """One ID. ``functions`` are its states as written, ``names`` their other names."""

    id: Word
    row: int
    last: int
    block: tuple[str, ...] = ()
    functions: tuple[Word, ...] = ()
    names: tuple[tuple[str, str], ...] = ()  # state module, name

    @property
    def modules(self) -> set[str]:
        return {one.text.partition(".")[0] for one in self.functions}


class Reference(Struct, frozen=True, kw_only=True):
    """``kind``: state (an ID or name), id, sls, block, file, template, late or call."""

    kind: str
    name: str
    span: Span
    state: str = ""
    block: tuple[str, ...] = ()


class Block(Struct, frozen=True, kw_only=True):
    """A delayed block; ``outer`` are the names of those around it."""

    name: Word
    row: int
    last: int
    outer: tuple[str, ...] = ()


class Outline(Struct, frozen=True, kw_only=True):
    nodes: tuple[Node, ...] = ()
    declared: tuple[Declared, ...] = ()
    references: tuple[Reference, ...] = ()
    blocks: tuple[Block, ...] = ()
    registers: dict[str, Word] = field(default_factory=dict)

    def includes(self) -> set[str]:
        return {one.name for one in self.references if one.kind == "sls" and one.state == "include"}


def outline(page: Page) -> Outline:
    """The outline of a page. Never raises: unreadable parts are left out."""
    reader = Reader()
    found = tuple(nodes(page, reader)) if page.is_yaml else ()
    rows = page.text.count("\n")
    return Outline(
        nodes=found,
        declared=tuple(_declarations(found, rows)),
        references=(*_references(found), *_in_templates(page.text)),
        blocks=tuple(_blocks(reader, rows)),
        registers={
            node.value.text: node.value
            for node in found
            if node.key and node.value and node.key.text == "register" and len(node.path) == 2
        },
    )


def _declarations(found: tuple[Node, ...], rows: int) -> Iterator[Declared]:
    heads = [at for at, node in enumerate(found) if not node.path and node.key and not node.item]
    for at, end in pairwise([*heads, len(found)]):
        node, inside = found[at], found[at + 1 : end]
        if node.key is None or node.key.text in TOP_WORDS:
            continue
        yield Declared(
            id=node.key,
            row=node.row,
            last=min(max([node.row, *(one.row for one in inside)]), rows),
            block=node.block,
            functions=tuple(_functions(node, inside)),
            names=tuple(
                (one.path[1].partition(".")[0], one.value.text)
                for one in inside
                if one.key and one.value and one.key.text == "name" and len(one.path) == 2
            ),
        )


def _functions(head: Node, inside: tuple[Node, ...]) -> Iterator[Word]:
    """``pkg.installed``, or ``pkg`` with ``- installed`` below it; also a whole state on one line."""
    for one in inside:
        if len(one.path) == 1 and not one.item:
            word = one.key or one.value
            if word is not None:
                yield word
    if not inside and head.value and "." in head.value.text and not head.value.dynamic:
        yield head.value


# -- references ----------------------------------------------------------------------------------------


def _references(found: tuple[Node, ...]) -> Iterator[Reference]:
    for node in found:
        above = node.path[-1] if node.path else ""
        if above == "include" and len(node.path) == 1:
            yield from _make_references(node, "sls", node.value, state="include")
        elif node.path == ("extend",) and node.key:
            yield from _make_references(node, "id", node.key, state="extend")
        elif above == "exclude" and len(node.path) == 1:
            yield from _make_references(
                node, node.key.text if node.key else "sls", node.value, state="exclude"
            )
        elif above in REQUISITE_WORDS and len(node.path) >= 3:
            yield from _requisite_references(node)
        elif above in DELAYED and len(node.path) >= 3:
            kind = node.key.text if node.key else _DELAYED_ITEMS.get(above, "")
            if kind in ("block", "sls"):
                yield from _make_references(node, kind, node.value, state=above)
        if node.value is not None:
            yield from _in_value(node, node.value)
            yield from _in_brackets(node, node.value)


_DELAYED_ITEMS = {"delayed_blocks": "block", "delayed_slses": "sls"}


def _requisite_references(node: Node) -> Iterator[Reference]:
    """``- pkg: nginx``, ``- id: nginx``, ``- sls: web``, ``- nginx``."""
    kind = node.key.text if node.key else "id"
    if kind == "sls":
        yield from _make_references(node, "sls", node.value, state=node.path[-1])
    elif kind == "id":
        yield from _make_references(node, "id", node.value, state=node.path[-1])
    else:
        yield from _make_references(node, "state", node.value, state=kind)


def _make_references(node: Node, kind: str, word: Word | None, state: str) -> Iterator[Reference]:
    if word is not None and word.text and not word.dynamic and kind in ("state", "id", "sls", "block"):
        yield Reference(kind=kind, name=word.text, span=word.span, state=state, block=node.block)


def _in_value(node: Node, word: Word) -> Iterator[Reference]:
    start = word.span.start
    for found in _LATE.finditer(word.text):
        span = Span(start + found.start(1), start + found.end(1))
        yield Reference(kind="late", name=found[1], span=span, block=node.block)


def _in_brackets(node: Node, word: Word) -> Iterator[Reference]:
    """``include: [a, b]`` and ``- require: [{pkg: a}, b]``."""
    key = node.key.text if node.key else ""
    is_include = key == "include" and not node.path
    if not word.text.startswith("[") or word.dynamic or not (is_include or key in REQUISITE_WORDS):
        return
    for found in _BRACKETED.finditer(word.text):
        kind = found["kind"] or ("sls" if is_include else "id")
        span = Span(word.span.start + found.start("name"), word.span.start + found.end("name"))
        state = key if kind in ("sls", "id") else kind
        kind = kind if kind in ("sls", "id") else "state"
        yield Reference(
            kind=kind,
            name=found["name"],
            span=span,
            state="include" if is_include else state,
            block=node.block,
        )


def _in_templates(text: str) -> Iterator[Reference]:
    """References that may be anywhere in the text."""
    searched: tuple[tuple[str, str, re.Pattern[str], Callable[[re.Match[str]], int | str]], ...] = (
        ("file", "salt://", _SALT_URL, lambda _: 1),
        ("template", "{%", _IMPORTS, lambda _: "name"),
        ("call", "salt", _CALLS, lambda found: "item" if found["item"] else "name"),
    )
    for kind, mark, pattern, group in searched:
        if mark in text:
            for found in pattern.finditer(text):
                at = group(found)
                yield Reference(kind=kind, name=found[at], span=Span(*found.span(at)))


def _blocks(reader: Reader, rows: int) -> Iterator[Block]:
    opened: list[tuple[int, Word, tuple[str, ...]]] = []
    for tag in reader.tags:
        if not tag.ends:
            opened.append((tag.row, tag.name, tag.block[:-1]))
        elif opened:
            row, name, outer = opened.pop()
            yield Block(name=name, row=row, last=tag.row, outer=outer)
    for row, name, outer in opened:
        yield Block(name=name, row=row, last=rows, outer=outer)
