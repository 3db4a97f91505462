"""Convert a target and its type, as in Salt's functions and files, to a compound expression. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from saltern.language.diagnostics import did_you_mean
from saltern.targeting.problem import BadTarget

_SPACE = re.compile(r"\s")
_SPECIAL = re.compile(r"[\s@()]")


def _glob(target: str) -> str:
    """A glob without another meaning: it must contain no operator, letter or group."""
    plain = _SPECIAL.sub("?", target)
    return f"[{plain[0]}]{plain[1:]}" if plain in ("and", "or", "not") else plain


def _make_prefix(letter: str, space: str = "?") -> Callable[[str], str]:
    return lambda target: f"{letter}@{_SPACE.sub(lambda _found: space, target)}"


TYPES: dict[str, Callable[[str], str]] = {
    "glob": _glob,
    "compound": str,
    "list": lambda target: f"L@{_SPACE.sub('', target)}",
    "pcre": _make_prefix("E", r"\s"),
    "grain": _make_prefix("G"),
    "grain_pcre": _make_prefix("P", r"\s"),
    "pillar": _make_prefix("I"),
    "pillar_exact": _make_prefix("I"),
    "pillar_pcre": _make_prefix("J", r"\s"),
    "ipcidr": _make_prefix("S", ""),
    "nodegroup": _make_prefix("N"),
    "range": _make_prefix("R", ""),
}


def compound_of(target: str | Sequence[object], kind: str = "glob") -> str:
    """The expression that matches the same systems. Raises ``BadTarget``."""
    row = TYPES.get(kind or "glob")
    if row is None:
        raise BadTarget(f"no target type is called {kind!r}", did_you_mean(kind, TYPES))
    if not isinstance(target, str):
        if kind not in ("list", "glob"):
            raise BadTarget(f"a target of the type {kind!r} is a text, not a list")
        row, target = TYPES["list"], ",".join(map(str, target))
    if not target.strip():
        raise BadTarget("the target is empty", "'*' means every system")
    return row(target.strip())
