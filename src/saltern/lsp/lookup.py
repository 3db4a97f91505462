"""Finds definitions, references, and notes about the place of a cursor."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from msgspec import Struct

from saltern.language.requisites import REQUISITE_WORDS
from saltern.lsp.desk import Desk, function_of
from saltern.lsp.index import absolute, matches
from saltern.lsp.manual import code_page, keyword
from saltern.lsp.nodes import Node, Word
from saltern.lsp.outline import TOP_WORDS, Declared, Outline, Reference
from saltern.lsp.positions import Span
from saltern.sources.tree import inside

_IGNORED = re.compile(r"saltern: ignore((?:[ ,]+[a-z0-9-]+)+)")
START = Span(0, 0)


class Target(Struct, frozen=True):
    """A part of a file. ``words`` are its names."""

    path: str
    span: Span
    title: str = ""
    words: tuple[str, ...] = ()


class Note(Struct, frozen=True):
    """Markdown about a part of the text."""

    text: str
    span: Span


def reference_at(known: Outline, place: int) -> Reference | None:
    return next((one for one in known.references if place in one.span), None)


# -- definitions -----------------------------------------------------------------------------------------


def definitions(desk: Desk, place: int) -> list[Target]:
    """The definitions of the name at this place; a declaration is its own definition."""
    found = reference_at(desk.outline, place)
    if found is not None:
        return list(_LEADS[found.kind](desk, found))
    declared = next((one for one in desk.outline.declared if place in one.id.span), None)
    if declared is not None:
        return [_declaration_target(desk.path, declared)]
    block = next((one for one in desk.outline.blocks if place in one.name.span), None)
    if block is not None:
        return [_word_target(desk.path, block.name)]
    return list(_in_top(desk, place))


def _states(desk: Desk, reference: Reference) -> Iterator[Target]:
    """The states of this file and scope; else those of files it includes; else of any file."""
    here = [one for one in desk.outline.declared if matches(reference, one)]
    if here:
        scoped = [one for one in here if one.block == reference.block] or here
        yield from (_declaration_target(desk.path, one) for one in scoped)
        return
    near = desk.index.reached_files(desk.site, desk.env, desk.site.sls(desk.path))
    found = list(_elsewhere(desk, reference))
    wanted = [target for sls, target in found if sls in near] or [target for _, target in found]
    yield from wanted


def _elsewhere(desk: Desk, reference: Reference) -> Iterator[tuple[str, Target]]:
    for sls, path, known in desk.index.files(desk.site, desk.env):
        for one in known.declared:
            if not one.block and matches(reference, one):
                yield sls, _declaration_target(path, one)


def _declaration_target(path: str, one: Declared) -> Target:
    title = ", ".join([f"{fun.text} {one.id.text}" for fun in one.functions] or [one.id.text])
    return Target(path, one.id.span, title, (one.id.text, *(name for _, name in one.names)))


def _word_target(path: str, word: Word) -> Target:
    return Target(path, word.span, word.text, (word.text,))


def _sls(desk: Desk, reference: Reference) -> Iterator[Target]:
    env = reference.name.rpartition(":")[0] or desk.env
    name = absolute(reference.name, desk.path, desk.site)
    for one in desk.site.tree.sls_names(env) if set("*?[") & set(name) else [name]:
        path = desk.index.place(desk.site, env, one) if fnmatchcase(one, name) else None
        if path is not None:
            yield Target(path, START, one, (one,))


def _file(desk: Desk, reference: Reference) -> Iterator[Target]:
    """The file of ``salt://`` or of an import in a template; one that begins with a dot is relative."""
    name = reference.name
    if reference.kind == "template" and name.startswith("."):
        below = desk.site.place(desk.path)
        name = posixpath.join(posixpath.dirname(below[1]), name) if below else name
    path = desk.site.tree.find(name.removeprefix("salt://"), desk.env) if inside(name) else None
    if path is not None:
        yield Target(path, START, name, (name,))


def _block(desk: Desk, reference: Reference) -> Iterator[Target]:
    for one in desk.outline.blocks:
        if one.name.text == reference.name and one.outer == reference.block[: len(one.outer)]:
            yield _word_target(desk.path, one.name)


def _late(desk: Desk, reference: Reference) -> Iterator[Target]:
    word = desk.outline.registers.get(reference.name)
    if word is not None:
        yield _word_target(desk.path, word)


def _none(_desk: Desk, _reference: Reference) -> Iterator[Target]:
    yield from ()


_LEADS: dict[str, Callable[[Desk, Reference], Iterator[Target]]] = {
    "state": _states,
    "id": _states,
    "sls": _sls,
    "file": _file,
    "template": _file,
    "block": _block,
    "late": _late,
    "call": _none,
}


def _in_top(desk: Desk, place: int) -> Iterator[Target]:
    """An item below a target of a top file is an SLS."""
    if desk.site.kind(desk.path) == "top":
        for node in desk.outline.nodes:
            if node.value and len(node.path) == 2 and place in node.value.span:
                yield from _sls(desk, Reference(kind="sls", name=node.value.text, span=node.value.span))


# -- references ------------------------------------------------------------------------------------------


def references(desk: Desk, place: int, *, declaration: bool = True) -> list[Target]:
    """All references in the tree with the same definition as the name at this place."""
    wanted = definitions(desk, place)
    if not wanted:
        return []
    ends = {(one.path, one.span) for one in wanted}
    words = {_tail(word) for one in wanted for word in one.words}
    found = [one for one in wanted if one.span != START] if declaration else []
    files = {path: known for _, path, known in desk.index.files(desk.site, desk.env)}
    files[desk.path] = desk.outline
    for path, known in files.items():
        there = Desk(site=desk.site, manual=desk.manual, index=desk.index, path=path, outline=known)
        for one in known.references:
            likely = _tail(one.name) in words
            if likely and any((end.path, end.span) in ends for end in _LEADS[one.kind](there, one)):
                found.append(Target(path, one.span, one.name))
    return found


def _tail(name: str) -> str:
    """The last part of a name, which rules out most references before they are looked up."""
    return re.split(r"[./:]", name)[-1]


# -- notes -------------------------------------------------------------------------------------------------


def note(desk: Desk, place: int) -> Note | None:
    """The note about a place; None if there is none."""
    for look in (_of_call, _of_code, _of_reference, _of_node):
        found = look(desk, place)
        if found is not None and found.text:
            return found
    return None


def _of_call(desk: Desk, place: int) -> Note | None:
    found = next((one for one in desk.outline.references if one.kind == "call" and place in one.span), None)
    entry = desk.manual.entry("functions", found.name) if found else None
    return Note(entry.markdown(), found.span) if found and entry else None


def _of_code(desk: Desk, place: int) -> Note | None:
    """The note about a rule that a comment ignores."""
    text = desk.index.text(desk.path) or ""
    start = text.rfind("\n", 0, place) + 1
    line = text[start : text.find("\n", place) if "\n" in text[place:] else len(text)]
    for ignored in _IGNORED.finditer(line):
        for name in re.finditer(r"[a-z0-9-]+", ignored[1]):
            span = Span(start + ignored.start(1) + name.start(), start + ignored.start(1) + name.end())
            if place in span:
                return Note(code_page(name[0]), span)
    return None


def _of_reference(desk: Desk, place: int) -> Note | None:
    found = reference_at(desk.outline, place)
    if found is None or found.kind == "call":
        return None
    rows = [f"`{one.title}`  \n{one.path}" for one in _LEADS[found.kind](desk, found)]
    return Note("\n\n".join(rows[:10]), found.span)


def _of_node(desk: Desk, place: int) -> Note | None:
    if desk.site.kind(desk.path) != "states":
        return None
    for node in desk.outline.nodes:
        for word, is_key in ((node.key, True), (node.value, False)):
            if word is not None and place in word.span:
                return Note(_about(desk, node, word, is_key), word.span)
    return None


def _about(desk: Desk, node: Node, word: Word, is_key: bool) -> str:
    path = node.path[1:] if node.path[:1] == ("extend",) else node.path
    manual = desk.manual
    if not path and word.text in TOP_WORDS:
        return ""
    if len(path) == 1 and (is_key or not node.item):
        entry = manual.entry("states", function_of(desk.outline, (path[0], word.text), manual))
        return entry.markdown() if entry else manual.about("states", word.text)
    if len(path) == 2 and not node.key:
        entry = manual.entry("states", f"{path[1]}.{word.text}")
        return entry.markdown() if entry else ""
    if len(path) == 2 and is_key:
        return _argument(desk, path, word.text)
    if path[-1:] != () and path[-1] in REQUISITE_WORDS and is_key:
        return manual.about("states", word.text)
    return ""


def _argument(desk: Desk, path: tuple[str, ...], name: str) -> str:
    function = function_of(desk.outline, path, desk.manual)
    entry = desk.manual.entry("states", function)
    argument = entry.arguments.get(name) if entry else None
    if argument is None:
        return keyword(name)
    return f"```python\n{argument.head}\n```\n\n{argument.doc}\n\nAn argument of `{function}`."
