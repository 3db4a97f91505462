"""The compound language: ``G@os:Debian and ( web* or E@db[0-9] ) not N@retired``.

Words are separated by spaces. ``not`` binds strongest, then ``and``, then ``or``; ``not`` after an
operand means ``and not``::

    some  = every { "or" every }
    every = unary { "and" unary | "not" unary }
    unary = "not" unary | "(" some ")" | word
    word  = LETTER [ delimiter ] "@" pattern | pattern
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from saltern.targeting.problem import BadTarget

OPERATORS = frozenset(("and", "or", "not", "(", ")"))

# The letters of the matchers.
LETTERS: dict[str, str] = {
    "G": "grain",
    "P": "grain_pcre",
    "I": "pillar",
    "J": "pillar_pcre",
    "L": "list",
    "S": "ipcidr",
    "E": "pcre",
    "N": "nodegroup",
    "R": "range",
}
_WORD = re.compile(r"([GPIJ])(.)?@(.+)|([A-Z])@(.*)", re.DOTALL)
_DEEPEST = 100  # nested parentheses; Python fails at some thousand


class Term(Struct, frozen=True):
    """One word: the matcher, and its pattern."""

    how: str
    pattern: str
    delimiter: str = ":"


class Not(Struct, frozen=True):
    inner: Node


class Every(Struct, frozen=True):
    parts: tuple[Node, ...]


class Some(Struct, frozen=True):
    parts: tuple[Node, ...]


Node = Term | Not | Every | Some


def parse(expression: str | Sequence[object]) -> Node:
    """The tree of an expression: a text, or a list of words that may then contain spaces."""
    return _Parser(expression).whole()


def is_plain(words: Sequence[str]) -> bool:
    """True if all words are plain names, which makes a nodegroup a list."""
    return not any(word in OPERATORS or "*" in word or _WORD.fullmatch(word) for word in words)


class _Parser:
    def __init__(self, expression: str | Sequence[object]) -> None:
        self.expression = expression
        if isinstance(expression, str):
            found = list(re.finditer(r"\S+", expression))
            self.words = [each.group() for each in found]
            self.columns = [*(each.start() + 1 for each in found), len(expression.rstrip()) + 1]
        else:
            self.words = [str(word) for word in expression]
        self.at = 0
        self.depth = 0

    @property
    def next(self) -> str | None:
        return self.words[self.at] if self.at < len(self.words) else None

    def whole(self) -> Node:
        if not self.words:
            raise BadTarget("the target is empty", "'*' means every machine")
        node = self.some()
        if self.next == ")":
            raise self.problem("')' closes nothing", "remove it, or add a '(' before it")
        if self.next is not None:
            raise self.problem(f"'and' or 'or' is missing before {self.next!r}", "a list of names is L@a,b,c")
        return node

    def some(self) -> Node:
        parts = [self.every()]
        while self.next == "or":
            self.at += 1
            parts.append(self.every())
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def every(self) -> Node:
        parts = [self.unary()]
        while self.next in ("and", "not"):
            self.at += self.next == "and"
            parts.append(self.unary())
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def unary(self) -> Node:
        inverted = False
        while self.next == "not":
            self.at += 1
            inverted = not inverted
        node = self.group() if self.next == "(" else self.term()
        return Not(node) if inverted else node

    def group(self) -> Node:
        opened = self.at
        self.at += 1
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.problem(f"more than {_DEEPEST} nested parentheses", "use nodegroups")
        node = self.some()
        if self.next is not None and self.next != ")":
            raise self.problem(f"'and' or 'or' is missing before {self.next!r}", "a list of names is L@a,b,c")
        if self.next is None:
            self.at = opened
            raise self.problem("'(' is never closed", "a ')' needs a space before it")
        self.at += 1
        self.depth -= 1
        return node

    def term(self) -> Node:
        word = self.next
        if word is None:
            raise self.problem(
                f"something must follow {self.words[-1]!r}", "add a target, or remove the word"
            )
        if word in OPERATORS:
            raise self.problem(f"{word!r} is where a target is expected", "put a target before it")
        node = self.read(word)
        self.at += 1
        return node

    def read(self, word: str) -> Term:
        found = _WORD.fullmatch(word)
        if not found:
            if word.startswith("(") or (word.endswith(")") and "(" not in word):
                raise self.problem(f"{word!r} is not a target", "put spaces around parentheses")
            return Term("glob", word)
        letter, pattern = found[1] or found[4], found[3] or found[5]
        if letter not in LETTERS:
            raise self.problem(
                f"no matcher has the letter {letter!r}", f"the letters are {', '.join(LETTERS)}"
            )
        if not pattern:
            raise self.problem(f"{word!r} has nothing after the '@'", "add what to match")
        return Term(LETTERS[letter], pattern, found[2] or ":")

    def problem(self, what: str, fix: str) -> BadTarget:
        if isinstance(self.expression, str):
            return BadTarget(f"bad target {self.expression!r}, column {self.columns[self.at]}: {what}", fix)
        return BadTarget(f"bad target {self.words!r}, word {self.at + 1}: {what}", fix)
