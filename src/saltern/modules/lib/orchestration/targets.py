"""Targets as Salt's files write them (``tgt``, ``tgt_type``), as one compound expression. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from saltern.modules.api.refused import Refused

GLOB, PATTERN = "?", r"\s"  # what stands for a space: words of a compound target are parted by spaces
WORD = re.compile(r"[GPIJ].?@|[A-Z]@")


def _glob(tgt: object) -> str:
    """Names that would be read as something else are put into a pattern that means the same."""
    text = _text(tgt)
    if text in ("and", "or", "not", "(", ")") or WORD.match(text) or text.startswith("@"):
        return f"[{text[0]}]{_spaced(text[1:], GLOB)}"
    return _spaced(text, GLOB)


def _several(tgt: object) -> str:
    names = tgt if isinstance(tgt, list | tuple) else _text(tgt).split(",")
    return "L@" + ",".join(str(name).strip() for name in names)


def _lettered(letter: str, space: str) -> Callable[[object], str]:
    return lambda tgt: f"{letter}@{_spaced(_text(tgt), space)}"


def _compound(tgt: object) -> str:
    """A list of words, as Salt takes it, or the text."""
    return " ".join(map(str, tgt)) if isinstance(tgt, list | tuple) else _text(tgt)


KINDS: dict[str, Callable[[object], str]] = {
    "glob": _glob,
    "list": _several,
    "compound": _compound,
    "pcre": _lettered("E", PATTERN),
    "grain": _lettered("G", GLOB),
    "grain_pcre": _lettered("P", PATTERN),
    "pillar": _lettered("I", GLOB),
    "pillar_pcre": _lettered("J", PATTERN),
    "pillar_exact": _lettered("I", GLOB),
    "nodegroup": _lettered("N", GLOB),
    "range": _lettered("R", GLOB),
    "ipcidr": _lettered("S", GLOB),
}


def compound(tgt: object, kind: str = "glob") -> str:
    """The compound target that means the same. Raises ``Refused``."""
    maker = KINDS.get(kind)
    if maker is None:
        raise Refused(f"tgt_type cannot be {kind!r}; it is one of {', '.join(KINDS)}")
    if kind == "glob" and isinstance(tgt, list | tuple):
        maker = _several  # Salt takes a list for what it is
    found = maker(tgt)
    if not found.strip():
        raise Refused("the target is empty; '*' means every system")
    return found


def _text(tgt: object) -> str:
    if isinstance(tgt, str):
        return tgt.strip()
    if isinstance(tgt, int | float) and not isinstance(tgt, bool):
        return str(tgt)  # YAML reads an id of digits as a number
    raise Refused(f"a target must be a text, not {tgt!r}")


def _spaced(text: str, space: str) -> str:
    return re.sub(r"\s", lambda _: space, text)
