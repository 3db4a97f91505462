"""Read the words of a delayed tag, or of the decorator in a Python file; report mistakes with their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from msgspec.structs import replace

from saltern.language.delayed import REFRESHABLE, UNLIMITED, Limit, Words
from saltern.language.diagnostics import CompileError, Diagnostic, did_you_mean
from saltern.language.source import Mark

NONE_WORDS = ("None", "none", "null", "~")
_WHOLE = re.compile(r"[0-9]{1,18}")
LIMIT_FIX = "write a whole number of at least 1, or None for no limit"


def read_words(text: str, where: Mark) -> Words:
    """``scoped delayed_repeat_limit=3 refresh=grains,pillar``; ``where`` is the place of the text.

    Raises ``CompileError`` with all words that are wrong.
    """
    known = Words()
    seen: set[str] = set()
    problems: list[Diagnostic] = []
    for found in re.finditer(r"\S+", text):
        key, equals, value = found[0].partition("=")
        at = Mark(where.file, where.line, where.column + found.start())
        try:
            known = _reader(key, found[0], seen, at)(known, value if equals else None, at)
        except CompileError as wrong:
            problems += wrong.diagnostics
        seen.add(key)
    if problems:
        raise CompileError(*problems)
    return known


def _reader(key: str, word: str, seen: Collection[str], at: Mark) -> Callable[..., Words]:
    if key not in _READERS:
        fix = did_you_mean(key, _READERS) or f"the words are {', '.join(_READERS)}"
        raise CompileError(tag_problem("delayed-word", f"{word!r} is not a word of this tag", at, fix))
    if key in seen:
        raise CompileError(tag_problem("delayed-word", f"{key!r} is defined twice", at, "keep one of them"))
    return _READERS[key]


def _read_scoped(words: Words, value: str | None, where: Mark) -> Words:
    if value is not None:
        raise CompileError(tag_problem("delayed-word", "'scoped' takes no value", where, "write 'scoped'"))
    return Words(scoped=True, limit=words.limit, refresh=words.refresh)


def _read_repeat_limit(words: Words, value: str | None, where: Mark) -> Words:
    text = value or ""
    limit = int(text) if _WHOLE.fullmatch(text) else text
    return Words(scoped=words.scoped, limit=read_limit(limit, where), refresh=words.refresh)


def _read_refresh(words: Words, value: str | None, where: Mark) -> Words:
    names = [name.strip() for name in (value or "").split(",")]
    usual = f"write refresh={','.join(REFRESHABLE)}, or some of them"
    wrong = [
        tag_problem(
            "delayed-word",
            f"refresh does not support {name!r}",
            where,
            did_you_mean(name, REFRESHABLE) or usual,
        )
        for name in names
        if name not in REFRESHABLE
    ]
    if wrong:
        raise CompileError(*wrong)
    return Words(scoped=words.scoped, limit=words.limit, refresh=frozenset(names))


_READERS: dict[str, Callable[[Words, str | None, Mark], Words]] = {
    "scoped": _read_scoped,
    "delayed_repeat_limit": _read_repeat_limit,
    "refresh": _read_refresh,
}


def read_limit(value: object, where: Mark | None) -> Limit:
    """A limit given as data."""
    if value is None or value in NONE_WORDS:
        return UNLIMITED
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    what = f"delayed_repeat_limit is {value!r}" if value != "" else "delayed_repeat_limit has no value"
    raise CompileError(Diagnostic(code="delayed-limit", what=what, where=where, fix=LIMIT_FIX))


def read_arguments(words: Mapping[str, object], where: Mark) -> Words:
    """The same words, as arguments of the decorator in a Python file."""
    known = Words()
    problems: list[Diagnostic] = []
    for word, value in words.items():
        try:
            known = _read_argument(known, word, value, where)
        except CompileError as wrong:
            problems += wrong.diagnostics
    if problems:
        raise CompileError(*problems)
    return known


def _read_argument(known: Words, word: str, value: object, where: Mark) -> Words:
    if word == "scoped":
        if not isinstance(value, bool):
            what = f"'scoped' is {value!r}"
            raise CompileError(tag_problem("delayed-word", what, where, "write scoped=True, or leave it out"))
        return replace(known, scoped=value)
    if word == "delayed_repeat_limit":
        return replace(known, limit=read_limit(value, where))
    if word == "refresh":
        names = value if isinstance(value, list | tuple | set | frozenset) else [value]
        return _read_refresh(known, ",".join(map(str, names)), where) if names else known
    fix = did_you_mean(word, _READERS) or f"the words are {', '.join(_READERS)}"
    raise CompileError(tag_problem("delayed-word", f"delayed_block takes no {word!r}", where, fix))


def tag_problem(code: str, what: str, where: Mark, fix: str = "", *also: tuple[str, Mark]) -> Diagnostic:
    return Diagnostic(code=code, what=what, where=where, fix=fix, also=also)
