"""Salt's targets (``tgt``, ``tgt_type``) as one compound expression. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from saltern.modules.api.refused import Refused

# Replaces a space, since spaces separate the words of a compound target: matches a character that is not a
# visible one of ASCII.
GLOB, PATTERN = "[!!-~]", r"\s"
WORD = re.compile(r"[GPIJ].?@|[A-Z]@")


def _glob(tgt: object) -> str:
    """A glob; a name that would be read as something else becomes an equivalent pattern."""
    text = _text(tgt)
    if text in ("and", "or", "not", "(", ")") or WORD.match(text) or text.startswith("@"):
        return f"[{text[0]}]{_replace_spaces(text[1:], GLOB)}"
    return _replace_spaces(text, GLOB)


def _several(tgt: object) -> str:
    given = tgt if isinstance(tgt, list | tuple) else _text(tgt).split(",")
    names = [str(name).strip() for name in given]
    spaced = [_glob(_literal(name)) for name in names if " " in name]
    plain = ",".join(name for name in names if name and " " not in name)
    return " or ".join([*([f"L@{plain}"] if plain else []), *spaced])


def _literal(text: str) -> str:
    """A glob that matches only this text."""
    return re.sub(r"[*?[]", lambda found: f"[{found[0]}]", text)


def _letter_prefix(letter: str, space: str) -> Callable[[object], str]:
    return lambda tgt: f"{letter}@{_replace_spaces(_text(tgt), space)}"


def _compound(tgt: object) -> str:
    """The text, or a list of words joined, as in Salt."""
    return " ".join(map(str, tgt)) if isinstance(tgt, list | tuple) else _text(tgt)


KINDS: dict[str, Callable[[object], str]] = {
    "glob": _glob,
    "list": _several,
    "compound": _compound,
    "pcre": _letter_prefix("E", PATTERN),
    "grain": _letter_prefix("G", GLOB),
    "grain_pcre": _letter_prefix("P", PATTERN),
    "pillar": _letter_prefix("I", GLOB),
    "pillar_pcre": _letter_prefix("J", PATTERN),
    "pillar_exact": lambda tgt: f"I@{_replace_spaces(_literal(_text(tgt)), GLOB)}",
    "nodegroup": _letter_prefix("N", GLOB),
    "range": _letter_prefix("R", GLOB),
    "ipcidr": _letter_prefix("S", GLOB),
}


def compound(tgt: object, kind: str = "glob") -> str:
    """The equivalent compound target. Raises ``Refused``."""
    maker = KINDS.get(kind)
    if maker is None:
        raise Refused(f"tgt_type cannot be {kind!r}; it must be one of {', '.join(KINDS)}")
    if kind == "glob" and isinstance(tgt, list | tuple):
        maker = _several  # Salt treats a list as a list of systems
    if tgt in ([], ()) or (isinstance(tgt, str) and not tgt.strip()):
        raise Refused("the target is empty; '*' means every system")
    return maker(tgt)


def _text(tgt: object) -> str:
    if isinstance(tgt, str):
        return tgt.strip()
    if isinstance(tgt, int | float) and not isinstance(tgt, bool):
        return str(tgt)  # YAML reads an ID of digits as a number
    raise Refused(f"a target must be a text, not {tgt!r}")


def _replace_spaces(text: str, space: str) -> str:
    """The text with each space replaced, also escaped ones."""
    return re.sub(r"\\?\s" if space == PATTERN else r"\s", lambda _: space, text)
