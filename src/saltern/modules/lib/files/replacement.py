"""Replace the matches of a pattern."""

from __future__ import annotations

import re
from collections.abc import Callable

from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.edit import end_line

FLAGS: dict[str, int] = {
    "A": re.ASCII,
    "ASCII": re.ASCII,
    "I": re.IGNORECASE,
    "IGNORECASE": re.IGNORECASE,
    "L": re.LOCALE,
    "LOCALE": re.LOCALE,
    "M": re.MULTILINE,
    "MULTILINE": re.MULTILINE,
    "S": re.DOTALL,
    "DOTALL": re.DOTALL,
    "U": re.UNICODE,
    "UNICODE": re.UNICODE,
    "X": re.VERBOSE,
    "VERBOSE": re.VERBOSE,
}


def flag_bits(flags: object) -> int:
    """The flags of a regular expression from a number or from names."""
    if isinstance(flags, int) and not isinstance(flags, bool):
        return flags
    bits = 0
    for item in flags if isinstance(flags, list) else str(flags or "").replace("|", ",").split(","):
        word = str(item).strip().upper()
        if word.isdecimal():
            bits |= int(word)
        elif word in FLAGS:
            bits |= FLAGS[word]
        elif word:
            raise Refused(
                f"no flag is called {item!r}; use one of {', '.join(name for name in FLAGS if len(name) > 1)}"
            )
    return bits


def replacer(
    search: re.Pattern[str], repl: str, count: int, literal: bool, put: str, extra: str
) -> Callable[[str], str]:
    """The change that ``file.replace`` makes to a text."""

    def change(old: str) -> str:
        if not search.search(old):
            return _add_text(old, put, extra)
        try:
            return search.sub((lambda _: repl) if literal else repl, old, count=max(count, 0))
        except (re.error, IndexError) as problem:
            raise Refused(
                f"repl {repl!r} does not fit: {problem}; for plain text set backslash_literal: True"
            ) from None

    return change


def _add_text(old: str, put: str, extra: str) -> str:
    if not put or re.search(rf"^{re.escape(extra.rstrip())}\r?$", old, re.MULTILINE):
        return old
    return f"{end_line(old)}{extra}\n" if put == "append" else f"{extra}\n{old}"
