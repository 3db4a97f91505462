"""``${delayed:NAME.path}``: a value out of the return of a state that registered as NAME.

Alone in an argument it is that value, with its type; inside other text it is written into it.
``$${delayed:…}`` is the text without the first dollar. A path has one step at least, so that nothing a
shell could mean by ``${…}`` is ever touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from msgspec import Struct

OPEN = "${delayed:"
NAME = re.compile(r"[A-Za-z_][\w-]*")
_REFERENCE = re.compile(r"(?P<escape>\$?)\$\{delayed:(?P<inner>[^}]*)\}?")
_STEP = re.compile(r'\.(?:"(?P<quoted>[^"]*)"|(?P<plain>[^."\s]+))')
FIX = "write ${delayed:NAME.path}, such as ${delayed:vm.data.ip}"


class Literal(str):
    """Text out of a return: whatever it looks like, it is neither a slot nor a reference."""

    __slots__ = ()


def literal(value: object, odd: Collection[str]) -> object:
    """The value with every text in it literal that holds one of ``odd``."""
    if isinstance(value, str):
        return Literal(value) if any(text in value for text in odd) else value
    if isinstance(value, Mapping):
        return {key: literal(inner, odd) for key, inner in value.items()}
    if isinstance(value, list):
        return [literal(inner, odd) for inner in value]
    return value


class BadReference(Exception):
    """A reference that cannot be read or followed; the text is for the user."""


class Reference(Struct, frozen=True):
    text: str  # as written
    name: str
    path: tuple[str, ...]


def references(value: object) -> Iterator[Reference]:
    """All in an argument, however deep. Raises ``BadReference``."""
    if isinstance(value, str):
        if OPEN in value and not isinstance(value, Literal):
            for found in _REFERENCE.finditer(value):
                if not found["escape"]:
                    yield _parse(found[0], found["inner"])
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def filled(value: object, look: Callable[[Reference], object]) -> object:
    """The value with every reference replaced by what ``look`` gives for it."""
    if isinstance(value, str):
        return _filled(value, look) if OPEN in value and not isinstance(value, Literal) else value
    if isinstance(value, Mapping):
        return {key: filled(inner, look) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, look) for inner in value]
    return value


def _filled(text: str, look: Callable[[Reference], object]) -> object:
    whole = _REFERENCE.fullmatch(text)
    if whole and not whole["escape"]:
        return look(_parse(text, whole["inner"]))

    def one(found: re.Match[str]) -> str:
        if found["escape"]:
            return found[0][1:]
        return written(look(_parse(found[0], found["inner"])))

    return _REFERENCE.sub(one, text)


def written(value: object) -> str:
    """A value inside text: as YAML would write it, lists and mappings as JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping | list):
        from msgspec import json

        return json.encode(value).decode()
    return "" if value is None else str(value)


def follow(value: object, reference: Reference) -> object:
    """What the path leads to. Raises ``BadReference``, naming what there is instead."""
    for place, step in enumerate(reference.path):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            before = ".".join((reference.name, *reference.path[:place]))
            raise BadReference(f"{reference.text}: {before} has no {step!r}; {_there(value)}")
    return value


def _there(value: object) -> str:
    if isinstance(value, Mapping):
        return f"it has {', '.join(map(str, value))}" if value else "it is empty"
    return f"it is a list of {len(value)}" if isinstance(value, list) else "it is a plain value"


def _parse(text: str, inner: str) -> Reference:
    name = NAME.match(inner)
    at = name.end() if name else 0
    path = []
    while name and (step := _STEP.match(inner, at)):
        path.append(step["quoted"] if step["quoted"] is not None else step["plain"])
        at = step.end()
    if not name or not path or at != len(inner) or not text.endswith("}"):
        raise BadReference(f"{text[:80]!r} is no reference; {FIX}")
    return Reference(text, name[0], tuple(path))
