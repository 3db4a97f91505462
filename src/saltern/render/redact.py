"""Remove the values that a template works with from messages.

Messages of functions, filters, ``include`` or Python often quote a value, which may
be a password of the pillar. The template's own words stay, so that its author recognises the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

HIDDEN = "•••"
SHORTEST = 4  # shorter pillar values reveal little, and hiding them hides too much
SHORT = 2  # a shorter word within quotes is shown
MOST = 100_000  # values that are searched for
# Not after a letter: the apostrophe of "isn't" begins nothing.
_QUOTED = re.compile(r"(?<!\w)'((?:[^'\\]|\\.)+)'(?!\w)|(?<!\w)\"((?:[^\"\\]|\\.)+)\"(?!\w)")
_WORD = re.compile(r"\w+")
_KINDS = frozenset(
    {"bool", "bytes", "dict", "float", "function", "generator", "int", "list", "method", "module", "object"}
    | {"set", "str", "tuple", "type", "none", "nonetype", "undefined", "jinja", "jinja2", "python"}
    | {"utf", "ascii", "codec"}
)


def redact(text: str, written: str, *, pillar: object = None, grains: object = None) -> str:
    """The message without pillar values; quoted words stay only if they are ``written`` in the
    templates, are facts of the machine, or Python's."""
    return _hide_quoted(_without(text, written, pillar), written, grains)


def without_pillar(text: str, written: str, pillar: object) -> str:
    """The message without pillar values that the templates themselves do not contain."""
    return _without(text, written, pillar)


def _hide_quoted(text: str, written: str, grains: object) -> str:
    if "'" not in text and '"' not in text:
        return text
    public = {word for value in _leaves(grains) for word in _WORD.findall(value)}
    return _QUOTED.sub(partial(_hide_word, written=written, public=public), text)


def _hide_word(found: re.Match[str], *, written: str, public: set[str]) -> str:
    word = found[1] or found[2]
    if word in written or all(_is_plain(part, written, public) for part in _WORD.findall(word)):
        return found[0]
    return f"'{HIDDEN}'"


def _is_plain(part: str, written: str, public: set[str]) -> bool:
    return len(part) <= SHORT or part in written or part in public or part.lower() in _KINDS


def _without(text: str, written: str, pillar: object) -> str:
    secret = {form for value in _leaves(pillar) for form in _forms(value) if form in text}
    for form in sorted(secret, key=len, reverse=True):
        if form not in written:
            text = text.replace(form, HIDDEN)
    return text


def _forms(value: str) -> Iterator[str]:
    """The forms of a value in messages: whole, a line or word of it, escaped, in other case."""
    for piece in {value, *value.splitlines(), *value.split()}:
        for form in (piece, piece.strip(), repr(piece)[1:-1], piece.upper(), piece.lower()):
            if len(form) >= SHORTEST:
                yield form


def _leaves(value: object) -> Iterator[str]:
    """The texts and numbers in data, at most ``MOST``; recursive data also ends."""
    waiting, seen = [value], 0
    while waiting and seen < MOST:
        one = waiting.pop()
        seen += 1
        if isinstance(one, str | bytes):
            yield one if isinstance(one, str) else one.decode("utf-8", "replace")
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield _number(one)
        else:
            waiting.extend(_inner(one))


def _number(value: float) -> str:
    try:
        return str(value)
    except ValueError:  # too many digits for Python to print
        return ""


def _inner(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, Sequence | set | frozenset) else ()
