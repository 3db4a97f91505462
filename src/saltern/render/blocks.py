"""Cut delayed blocks out of a text, before any renderer sees it.

``#!delayed_block NAME [words]`` … ``#!end_delayed_block [NAME]``, and the first draft's
``{% delayed_block NAME %}`` … ``{% end_delayed_block %}``; a tag is a line of its own and begins in
column 1. What is cut leaves its empty lines behind. Nothing inside a block is looked at but the tags
that nest in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from saltern.language.delayed import MARKER, REFRESHABLE, UNLIMITED, Block, Limit, Words
from saltern.language.diagnostics import CompileError, Diagnostic, did_you_mean
from saltern.language.source import Mark

_TAG = re.compile(
    r"^(?:#!(?P<tag>(?:end_)?delayed_\w*)(?P<rest>[^\r\n]*)"
    r"|\{%[-+]?[ \t]*(?P<draft>(?:end_)?delayed_block)\b(?P<words>[^\r\n]*?)[-+]?%\}[ \t]*)\r?$",
    re.MULTILINE,
)
START, END, WHOLE = "delayed_block", "end_delayed_block", "delayed_sls"
TAGS = (START, END, WHOLE)
NONE_WORDS = ("None", "none", "null", "~")
_WHOLE = re.compile(r"[0-9]{1,18}")
LIMIT_FIX = "write a whole number from 1 on, or None for no limit"


class _Tag(Struct, frozen=True):
    kind: str
    words: str
    column: int  # where the words begin, from 1
    line: int
    start: int
    end: int


def cut(text: str, file: str, *, outer: tuple[str, ...] = ()) -> tuple[str, tuple[Block, ...]]:
    """The text without its blocks, and the blocks. Raises ``CompileError`` for all tags that do not match."""
    if f"{MARKER}_" not in text:
        return text, ()
    tags = list(_tags(text))
    if not tags:
        return text, ()
    problems: list[Diagnostic] = []
    kept: list[str] = []
    blocks: list[Block] = []
    opened: list[_Tag] = []
    at = 0
    for tag in tags:
        if tag.kind not in TAGS:
            problems += [] if opened else [_unknown(tag, file)]
        elif tag.kind == START:
            opened.append(tag)
        elif not opened:
            problems.append(_unopened(tag, file))
        else:
            start = opened.pop()
            problems += _mismatch(start, tag, file)
            if not opened:
                kept += (text[at : start.start], "\n" * text.count("\n", start.start, tag.end))
                at = tag.end
                blocks.append(_block(text, start, tag, file, outer, problems))
    problems += [_unclosed(start, file) for start in opened]
    problems += _twice(blocks)
    if problems:
        raise CompileError(*problems)
    return "".join([*kept, text[at:]]), tuple(blocks)


def _tags(text: str) -> Iterable[_Tag]:
    line = counted = 0
    for found in _TAG.finditer(text):
        line += text.count("\n", counted, found.start())
        counted = found.start()
        kind = found["tag"] or found["draft"]
        group = "rest" if found["tag"] else "words"
        if kind != WHOLE:
            column = found.start(group) - found.start() + 1
            yield _Tag(kind, found[group], column, line + 1, found.start(), found.end())


def _block(
    text: str, start: _Tag, end: _Tag, file: str, outer: tuple[str, ...], problems: list[Diagnostic]
) -> Block:
    name = ""
    words = Words()
    try:
        name, words = _named(start, file)
    except CompileError as problem:
        problems += problem.diagnostics
    inside = text[start.end : end.start]
    return Block(
        name=name, file=file, line=start.line, text="\n" * (start.line - 1) + inside, words=words, outer=outer
    )


def _mismatch(start: _Tag, end: _Tag, file: str) -> list[Diagnostic]:
    named = end.words.split()
    begun = start.words.split()[:1]
    if not named or named == begun:
        return []
    what = f"{END} names {named[0]!r}, but the block it ends is {begun[0] if begun else ''!r}"
    fix = f"write '#!{END} {begun[0] if begun else ''}', or end {named[0]!r} where it belongs"
    if len(named) > 1:
        what, fix = f"{END} takes one name, not {len(named)} words", "leave the others out"
    return [_problem("delayed-end-name", what, Mark(file, end.line), fix, ("begun", Mark(file, start.line)))]


def _unknown(tag: _Tag, file: str) -> Diagnostic:
    fix = did_you_mean(tag.kind, TAGS) or f"the tags are {', '.join(f'#!{one}' for one in TAGS)}"
    return _problem("delayed-tag", f"there is no tag '#!{tag.kind}'", Mark(file, tag.line, 3), fix)


def _unopened(tag: _Tag, file: str) -> Diagnostic:
    what = f"this {END} ends no block"
    return _problem(
        "delayed-no-start", what, Mark(file, tag.line), f"begin it with a line '#!{START} NAME', in column 1"
    )


def _unclosed(tag: _Tag, file: str) -> Diagnostic:
    name = "".join(tag.words.split()[:1])
    what = f"the block {name!r} is not ended"
    return _problem(
        "delayed-no-end", what, Mark(file, tag.line), f"end it with a line '#!{END} {name}', in column 1"
    )


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
    return _problem("delayed-twice", what, block.mark, "rename one of them", ("first", first.mark))


def _problem(code: str, what: str, where: Mark, fix: str = "", *also: tuple[str, Mark]) -> Diagnostic:
    return Diagnostic(code=code, what=what, where=where, fix=fix, also=also)


# -- the words of a tag ----------------------------------------------------------------------------


def _named(tag: _Tag, file: str) -> tuple[str, Words]:
    name = tag.words.split()[:1]
    if not name or "=" in name[0]:
        what = f"{START} has no name"
        where = Mark(file, tag.line, tag.column)
        raise CompileError(_problem("delayed-no-name", what, where, f"write '#!{START} NAME'"))
    begin = tag.words.index(name[0]) + len(name[0])
    return name[0], read_words(tag.words[begin:], Mark(file, tag.line, tag.column + begin))


def read_words(text: str, where: Mark) -> Words:
    """``scoped delayed_repeat_limit=3 refresh=grains,pillar``; ``where`` is the place of the text."""
    known = Words()
    seen: set[str] = set()
    for found in re.finditer(r"\S+", text):
        key, equals, value = found[0].partition("=")
        at = Mark(where.file, where.line, where.column + found.start())
        reader = _READERS.get(key)
        if reader is None:
            fix = did_you_mean(key, _READERS) or f"the words are {', '.join(_READERS)}"
            raise CompileError(_problem("delayed-word", f"{found[0]!r} is no word of this tag", at, fix))
        if key in seen:
            raise CompileError(_problem("delayed-word", f"{key!r} stands here twice", at, "keep one of them"))
        seen.add(key)
        known = reader(known, value if equals else None, at)
    return known


def _scoped(words: Words, value: str | None, where: Mark) -> Words:
    if value is not None:
        raise CompileError(_problem("delayed-word", "'scoped' takes no value", where, "write 'scoped'"))
    return Words(scoped=True, limit=words.limit, refresh=words.refresh)


def _limited(words: Words, value: str | None, where: Mark) -> Words:
    text = value or ""
    limit = int(text) if _WHOLE.fullmatch(text) else text
    return Words(scoped=words.scoped, limit=read_limit(limit, where), refresh=words.refresh)


def _refreshed(words: Words, value: str | None, where: Mark) -> Words:
    names = [name.strip() for name in (value or "").split(",")]
    wrong = next((name for name in names if name not in REFRESHABLE), None)
    if wrong is not None:
        fix = did_you_mean(wrong, REFRESHABLE) or f"write refresh={','.join(REFRESHABLE)}, or some of them"
        raise CompileError(_problem("delayed-word", f"refresh cannot look again at {wrong!r}", where, fix))
    return Words(scoped=words.scoped, limit=words.limit, refresh=frozenset(names))


_READERS: dict[str, Callable[[Words, str | None, Mark], Words]] = {
    "scoped": _scoped,
    "delayed_repeat_limit": _limited,
    "refresh": _refreshed,
}


def read_limit(value: object, where: Mark | None) -> Limit:
    """A limit as data."""
    if value is None or value in NONE_WORDS:
        return UNLIMITED
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    what = f"delayed_repeat_limit is {value!r}" if value != "" else "delayed_repeat_limit has no value"
    raise CompileError(Diagnostic(code="delayed-limit", what=what, where=where, fix=LIMIT_FIX))


def decorated(words: Mapping[str, object], where: Mark) -> Words:
    """The same words, as a Python file gives them to its decorator."""
    unknown = next((word for word in words if word not in _READERS), None)
    if unknown is not None:
        fix = did_you_mean(unknown, _READERS) or f"the words are {', '.join(_READERS)}"
        raise CompileError(_problem("delayed-word", f"delayed_block takes no {unknown!r}", where, fix))
    scoped = words.get("scoped", False)
    if not isinstance(scoped, bool):
        what = f"'scoped' is {scoped!r}"
        raise CompileError(_problem("delayed-word", what, where, "write scoped=True, or leave it out"))
    limit = read_limit(words["delayed_repeat_limit"], where) if "delayed_repeat_limit" in words else None
    refresh = words.get("refresh", ())
    names = refresh if isinstance(refresh, list | tuple | set | frozenset) else [refresh]
    again = _refreshed(Words(), ",".join(map(str, names)), where).refresh if names else frozenset()
    return Words(scoped=scoped, limit=limit, refresh=again)


# -- a whole SLS -------------------------------------------------------------------------------------


def sls_words(text: str, file: str) -> Words:
    """The ``#!delayed_sls`` line at the top of a file that a ``delayed_render`` names."""
    found: Words | None = None
    first = 0
    for number, line in enumerate(text.splitlines() if f"#!{WHOLE}" in text else (), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            break
        tag, _, rest = line.partition(" ")
        if tag.rstrip() != f"#!{WHOLE}":
            continue
        if found is not None:
            what = f"this file has two '#!{WHOLE}' lines"
            where = Mark(file, number)
            raise CompileError(
                _problem("delayed-sls-twice", what, where, "keep one", ("first", Mark(file, first)))
            )
        found, first = read_words(rest, Mark(file, number, len(tag) + 2)), number
    return found or Words()
