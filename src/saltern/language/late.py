"""``${delayed:NAME.path}``: a value from the return of the state that registered as NAME.

If it is the whole argument, the value keeps its type; within other text, it is inserted as text.
``$${delayed:…}`` is the text without the first dollar. A path has at least one step, so no ``${…}`` of a
shell is affected: ``${delayed:-no}`` and ``${delayed:2}`` belong to the shell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from saltern.language.diagnostics import did_you_mean
from saltern.language.texts import texts_in

OPEN = "${delayed:"
# Compiled for the first such text: most runs have none.
NAME = r"[A-Za-z_][\w-]*"
_SHELLS = rf"[-=?+\s\d$(]|{NAME}(?![\w.}}-]|$)"  # defaults and offsets of a variable called delayed
_REFERENCE = rf"(?P<escape>\$?)\$\{{delayed:(?!{_SHELLS})(?P<inner>[^}}]*)\}}?"
_STEP = r'\.(?:"(?P<quoted>[^"]*)"|(?P<plain>[^."\s]+))'
FIX = "write ${delayed:NAME.path}, such as ${delayed:vm.data.ip}"


class Literal(str):
    """Text from a return, which is never read as a slot or a reference."""

    __slots__ = ()


def literal(value: object, is_data: Callable[[str], bool]) -> object:
    """The value with every text that is data marked as literal."""
    return each_text(value, lambda text: Literal(text) if is_data(text) else text)


def literals(value: object) -> set[str]:
    """The literal texts in a value."""
    found: set[str] = set()
    each_text(value, lambda text: found.add(str(text)) if isinstance(text, Literal) else None)
    return found


def unwrap_literals(value: object) -> object:
    """The value with its literals as plain text, for the function that is called with it."""
    return each_text(value, lambda text: str(text) if isinstance(text, Literal) else text)


def each_text(value: object, change: Callable[[str], object]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: each_text(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [each_text(inner, change) for inner in value]
    return value


class BadReference(Exception):
    """A reference that cannot be read or followed; the text is for the user."""


class Reference(Struct, frozen=True):
    """A reference; an escaped one has no name. One without a path may be an offset in a shell expression."""

    text: str  # as written
    name: str
    path: tuple[str, ...]


def references(value: object) -> Iterator[Reference]:
    """All references in an argument, at any depth. Raises ``BadReference``."""
    for text in texts_in(value):
        if OPEN in text and not isinstance(text, Literal):
            import re

            for found in re.finditer(_REFERENCE, text):
                yield Reference(found[0], "", ()) if found["escape"] else _parse(found[0], found["inner"])


def escape_references(value: object) -> object:
    """The value with every reference escaped, so that ``fill_references`` returns the original value."""
    import re

    return each_text(value, lambda text: re.sub(_REFERENCE, r"$\g<0>", text) if OPEN in text else text)


def fill_references(value: object, look: Callable[[Reference], object]) -> object:
    """The value with every reference replaced by the value of ``look`` for it."""
    return each_text(
        value,
        lambda text: _fill_text(text, look) if OPEN in text and not isinstance(text, Literal) else text,
    )


def _fill_text(text: str, look: Callable[[Reference], object]) -> object:
    import re

    whole = re.fullmatch(_REFERENCE, text)
    if whole and not whole["escape"]:
        asked = _parse(text, whole["inner"])
        return look(asked) if asked.path else text

    def one(found: re.Match[str]) -> str:
        if found["escape"]:
            return found[0][1:]
        asked = _parse(found[0], found["inner"])
        return write_value(look(asked)) if asked.path else asked.text

    made = re.sub(_REFERENCE, one, text)
    return Literal(made) if text.startswith(OPEN) else made  # a text that begins with data is not a slot


def write_value(value: object) -> str:
    """A value as part of a text, in YAML's notation; lists and mappings as JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping | list):
        from msgspec import json

        return json.encode(value).decode()
    return "" if value is None else str(value)


def follow(value: object, reference: Reference) -> object:
    """The value at the path. Raises ``BadReference`` with what exists instead."""
    for index, step in enumerate(reference.path):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            before = ".".join((reference.name, *reference.path[:index]))
            raise BadReference(f"{reference.text}: {before} has no {step!r}; {_there(value, step)}")
    return value


def _there(value: object, step: str) -> str:
    if isinstance(value, Mapping):
        near = did_you_mean(step, list(map(str, value)))
        return near or (f"it has {', '.join(map(str, value))}" if value else "it is empty")
    return f"it is a list of {len(value)}" if isinstance(value, list) else "it is a plain value"


def _parse(text: str, inner: str) -> Reference:
    import re

    name = re.match(NAME, inner)
    at = name.end() if name else 0
    path = []
    while name and (step := re.match(_STEP, inner[at:])):
        path.append(step["quoted"] if step["quoted"] is not None else step["plain"])
        at += step.end()
    if not name or at != len(inner) or not text.endswith("}"):
        raise BadReference(f"{text[:80]!r} is not a reference; {FIX}")
    return Reference(text, name[0], tuple(path))
