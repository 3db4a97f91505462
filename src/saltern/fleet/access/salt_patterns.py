"""Salt's patterns → globs. Salt reads functions of an access list as expressions that match the beginning.

A glob that allows may match less than Salt's pattern, never more: ``test.ping`` here is that function alone.
One that denies may match more, never less.
"""

from __future__ import annotations

import re

_ALTERNATIVE = re.compile(r"\^?((?:[\w@%:-]|\\[.\-@]|\.\*|\.(?![*+?{]))*)\$?")
_GLOB = re.compile(r"[\w.*?@%:-]+")
MOST = 50


def as_globs(pattern: str) -> tuple[str, ...] | None:
    """The globs that a regular expression allows; None if it cannot be written with globs."""
    parts = _strip_parentheses(pattern).split("|")
    found = [_ALTERNATIVE.fullmatch(part) for part in parts]
    if not all(found) or len(parts) > MOST or not all(parts):
        return None
    return tuple(_glob(one[1]) for one in found if one is not None)


def as_name_globs(pattern: str) -> tuple[str, ...] | None:
    """The same for names of people and blacklists, which Salt reads as globs first, then as expressions."""
    return (pattern,) if _GLOB.fullmatch(pattern) and ".*" not in pattern else as_globs(pattern)


def as_wide_globs(pattern: str) -> tuple[str, ...] | None:
    """Globs that match at least what a pattern of a blacklist matches, which Salt reads in both ways."""
    if re.fullmatch(r"\w+(\.\w+)?", pattern):
        return (pattern,)  # a name or a function: a dot in it means a dot
    found = as_globs(pattern)
    if found is None:
        return None
    parts = _strip_parentheses(pattern).replace("^", "").replace("$", "").split("|")
    end = "*" if len(parts) > 1 else ""  # Salt anchors only the last of several at its end
    return tuple(dict.fromkeys([*(_wide(part) + end for part in parts), *found]))


def _wide(text: str) -> str:
    """A dot is any character, a dot and a star any text."""
    text = text.replace("\\.", "\0").replace(".*", "*").replace(".", "?")
    return text.replace("\0", ".").replace("\\", "")


def _strip_parentheses(pattern: str) -> str:
    """Without parentheses around the whole."""
    found = re.fullmatch(r"\^?\((?:\?:)?([^()]*)\)\$?", pattern)
    return found[1] if found else pattern


def _glob(text: str) -> str:
    """Token by token. A dot and a star after a name keep the dot: ``network.*`` is meant as a glob."""
    made = ""
    for token in re.findall(r"\\.|\.\*|.", text):
        if token == ".*":
            token = ".*" if re.search(r"[\w@%:-]$", made) else "*"
        made += token.removeprefix("\\")
    return made
