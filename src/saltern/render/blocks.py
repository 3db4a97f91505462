"""Cut delayed blocks out of a text, before any renderer sees it.

``#!delayed_block NAME [words]`` … ``#!end_delayed_block [NAME]``, each a line of its own that begins in
column 1; and the first draft's ``{% delayed_block NAME %}`` … ``{% end_delayed_block %}``, which can be
wherever a Jinja tag can, but not in a Jinja comment or between ``raw`` and ``endraw``. Cut blocks leave
empty lines. Inside a block, only nested tags are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from saltern.language.delayed import MARKER, Block, Words
from saltern.language.diagnostics import CompileError, Diagnostic, Diagnostics, did_you_mean
from saltern.language.source import Mark
from saltern.render.block_words import read_words, tag_problem

_TAG = re.compile(
    r"^#!(?P<tag>(?:end_)?delayed_\w*)(?P<rest>[^\r\n]*)\r?$"
    r"|(?:^[ \t]*)?\{%[-+]?\s*(?P<draft>(?:end_?)?delayed_\w*)(?P<words>[^%{}]*?)[-+]?%\}(?:[ \t]*\r?$)?",
    re.MULTILINE,
)
_UNREAD = re.compile(  # not read by Jinja: comments and raw text, neither of which extends over a '#!' tag
    r"\{#(?:(?!^#!(?:end_)?delayed_).)*?#\}"
    r"|\{%[-+]?\s*raw\s*[-+]?%\}(?:(?!^#!(?:end_)?delayed_).)*?\{%[-+]?\s*endraw\b",
    re.MULTILINE | re.DOTALL,
)
START, END, WHOLE = "delayed_block", "end_delayed_block", "delayed_sls"
_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
TAGS = (START, END, WHOLE)


class _Tag(Struct, frozen=True):
    kind: str
    words: str
    column: int  # the column of the first word, from 1
    line: int
    start: int
    end: int
    draft: bool = False

    def spelt(self, kind: str, name: str = "") -> str:
        """Another tag, in the same spelling."""
        words = " ".join(filter(None, (kind, name)))
        return f"{{% {words} %}}" if self.draft else f"#!{words}"


def cut(text: str, file: str, *, outer: tuple[str, ...] = ()) -> tuple[str, tuple[Block, ...]]:
    """The text without its blocks, and the blocks. Raises ``CompileError`` for all unmatched tags."""
    if f"{MARKER}_" not in text:
        return text, ()
    tags = list(_tags(text))
    if not tags:
        return text, ()
    problems: list[Diagnostic] = []
    kept: list[str] = []
    blocks: list[Block] = []
    opened: list[_Tag] = []
    doubtful: list[_Tag] = []  # inside of blocks: possible misspelled ends
    at = 0
    for tag in tags:
        if tag.kind not in TAGS:
            problems += [] if opened else [_unknown(tag, file)]
            doubtful += [tag] if opened else []
        elif tag.kind == START:
            opened.append(tag)
        elif not opened:
            problems.append(_no_start(tag, file))
        else:
            start = opened.pop()
            problems += _mismatch(start, tag, file)
            if not opened:
                kept += (text[at : start.start], "\n" * text.count("\n", start.start, tag.end))
                at = tag.end
                blocks.append(_block(text, start, tag, file, outer, problems))
    problems += [_no_end(start, file, doubtful) for start in opened]
    problems += _twice(blocks)
    if problems:
        raise CompileError(*problems)
    return "".join([*kept, text[at:]]), tuple(blocks)


def _tags(text: str) -> Iterable[_Tag]:
    line = counted = 0
    unread: list[tuple[int, int]] | None = None
    for found in _TAG.finditer(text):
        kind = found["tag"] or found["draft"]
        if kind == WHOLE and found["tag"]:
            continue
        if found["draft"]:
            unread = [one.span() for one in _UNREAD.finditer(text)] if unread is None else unread
            if any(start <= found.start() < end for start, end in unread):
                continue
        line += text.count("\n", counted, found.start())
        counted = found.start()
        group = "rest" if found["tag"] else "words"
        begin = text.rfind("\n", 0, found.start(group)) + 1
        column = found.start(group) - begin + 1
        yield _Tag(kind, found[group], column, line + 1, found.start(), found.end(), not found["tag"])


def _block(
    text: str, start: _Tag, end: _Tag, file: str, outer: tuple[str, ...], problems: list[Diagnostic]
) -> Block:
    name = ""
    words = Words()
    try:
        name, words = _name_and_words(start, file)
    except CompileError as wrong:
        problems += wrong.diagnostics
    inside = text[start.end : end.start]
    return Block(
        name=name, file=file, line=start.line, text="\n" * (start.line - 1) + inside, words=words, outer=outer
    )


def _mismatch(start: _Tag, end: _Tag, file: str) -> list[Diagnostic]:
    named = end.words.split()
    begun = start.words.split()[:1]
    if not named or named == begun:
        return []
    name = begun[0] if begun else ""
    what = f"{END} names {named[0]!r}, but the block it ends is {name!r}"
    fix = f"write '{end.spelt(END, name)}', or end {named[0]!r} where it belongs"
    if len(named) > 1:
        what, fix = f"{END} takes one name, not {len(named)} words", "leave out the others"
    return [
        tag_problem("delayed-end-name", what, Mark(file, end.line), fix, ("begun", Mark(file, start.line)))
    ]


def _unknown(tag: _Tag, file: str) -> Diagnostic:
    near = did_you_mean(tag.kind, TAGS)
    fix = near or f"the tags are {', '.join(tag.spelt(one) for one in TAGS)}"
    where = Mark(file, tag.line, tag.column - len(tag.kind))
    return tag_problem("delayed-tag", f"there is no tag '{tag.spelt(tag.kind)}'", where, fix)


def _no_start(tag: _Tag, file: str) -> Diagnostic:
    if tag.kind == WHOLE:
        what, fix = f"'{WHOLE}' does not exist in this spelling", f"write '#!{WHOLE}' at the top of the file"
        return tag_problem("delayed-tag", what, Mark(file, tag.line), fix)
    what = f"this {END} ends no block"
    where = "" if tag.draft else ", in column 1"
    fix = f"begin it with {'' if tag.draft else 'a line '}'{tag.spelt(START, 'NAME')}'{where}"
    return tag_problem("delayed-no-start", what, Mark(file, tag.line), fix)


def _no_end(tag: _Tag, file: str, doubtful: Iterable[_Tag]) -> Diagnostic:
    name = "".join(tag.words.split()[:1])
    what = f"the block {name!r} is not ended"
    where = "" if tag.draft else ", in column 1"
    fix = f"end it with {'' if tag.draft else 'a line '}'{tag.spelt(END, name)}'{where}"
    likely = [one for one in doubtful if one.start > tag.start and END in did_you_mean(one.kind, TAGS)]
    also = [(f"'{one.kind}' is not an end", Mark(file, one.line)) for one in likely[:1]]
    return tag_problem("delayed-no-end", what, Mark(file, tag.line), fix, *also)


def _twice(blocks: Iterable[Block]) -> list[Diagnostic]:
    first: dict[str, Block] = {}
    problems = []
    for block in blocks:
        known = first.setdefault(block.name, block)
        if known is not block and block.name:
            problems.append(twice(block, known))
    return problems


def twice(block: Block, first: Block) -> Diagnostic:
    what = f"two blocks of one file are called {block.name!r}"
    return tag_problem("delayed-twice", what, block.mark, "rename one of them", ("first", first.mark))


def _name_and_words(tag: _Tag, file: str) -> tuple[str, Words]:
    name = tag.words.split()[:1]
    if not name or "=" in name[0]:
        what = f"{START} has no name"
        where = Mark(file, tag.line, tag.column)
        raise CompileError(tag_problem("delayed-no-name", what, where, f"write '#!{START} NAME'"))
    begin = tag.words.index(name[0]) + len(name[0])
    return name[0], read_words(tag.words[begin:], Mark(file, tag.line, tag.column + begin))


# -- a whole SLS -------------------------------------------------------------------------------------


def sls_words(text: str, file: str, found: Diagnostics | None = None) -> Words:
    """The words of the ``#!delayed_sls`` line at the top of a file that a ``delayed_render`` names.

    A line that is not at the top has no effect: ``found`` gets a warning.
    """
    if f"#!{WHOLE}" not in text:
        return Words()
    tops, late = _whole_tags(text)
    problems: list[Diagnostic] = []
    words = Words()
    for number, tag, rest in tops:
        try:
            words = read_words(rest, Mark(file, number, len(tag) + 2))
        except CompileError as wrong:
            problems += wrong.diagnostics
    for number, *_ in tops[1:]:
        what, also = f"this file has two '#!{WHOLE}' lines", ("first", Mark(file, tops[0][0]))
        problems.append(tag_problem("delayed-sls-twice", what, Mark(file, number), "keep one", also))
    if problems:
        raise CompileError(*problems)
    for number, why, fix in late if found is not None else ():
        assert found is not None
        what = f"'#!{WHOLE}' has no effect here: {why}"
        found.warn("delayed-sls-late", what, where=Mark(file, number), fix=fix)
    return words


def begins_with_whole(text: str) -> bool:
    """True if the file has the tag at its top, where it has an effect."""
    return f"#!{WHOLE}" in text and bool(_whole_tags(text)[0])


def _whole_tags(text: str) -> tuple[list[tuple[int, str, str]], list[tuple[int, str, str]]]:
    """The tags at the top, with their words; and those that have no effect, with the reason and the fix."""
    tops: list[tuple[int, str, str]] = []
    late: list[tuple[int, str, str]] = []
    first = 0  # the first line with content
    bare = _COMMENT.sub(lambda one: "\n" * one[0].count("\n"), _cut_quietly(text)).split("\n")
    for number, line in enumerate(bare, 1):
        tag, _, rest = line.rstrip("\r").partition(" ")
        inset = line.lstrip()
        if tag.rstrip() == f"#!{WHOLE}" and not first:
            tops.append((number, tag, rest))
        elif inset.partition(" ")[0].rstrip() == f"#!{WHOLE}" and not (first and line != inset):
            why = f"line {first} comes before it" if first else "it does not begin in column 1"
            late.append((number, why, f"move it above line {first}" if first else "remove the spaces"))
        elif inset.strip() and not inset.startswith("#"):
            first = first or number
    return tops, late


def _cut_quietly(text: str) -> str:
    """The text without its blocks, where they can be found."""
    try:
        return cut(text, "")[0]
    except CompileError:
        return text
