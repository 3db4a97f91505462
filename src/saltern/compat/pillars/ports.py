"""The arguments of a source of ``ext_pillar``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field

from saltern.language.diagnostics import Diagnostic


class Asked(Struct, frozen=True, kw_only=True):
    """The machine, and the data known so far.

    ``pillar`` has the values from files and earlier sources; ``template`` renders the Jinja template at a
    path with values; ``data`` renders a text with the renderers that it names; ``compiled`` compiles pillar
    roots; ``groups`` is true if the machine is in a node group; ``cache`` is a directory for files. Sources
    add to ``warnings`` and to ``commits``, of repositories by their addresses; a known commit is used.
    """

    id: str
    pillar: Mapping[str, object]
    opts: Mapping[str, Any]
    grains: Mapping[str, object]
    template: Callable[[str, Mapping[str, object]], str]
    data: Callable[[str, str], object]
    compiled: Callable[[Mapping[str, list[str]]], dict[str, object]]
    groups: Callable[[str], bool]
    cache: str = ""
    warnings: list[Diagnostic] = field(default_factory=list)
    commits: dict[str, str] = field(default_factory=dict)


class SourceError(Exception):
    """A source failed; the text contains no data."""


def words_of(given: object) -> dict[str, Any]:
    """Arguments by name, from a mapping or a list of mappings; others by their index."""
    if isinstance(given, Mapping):
        return {str(key): value for key, value in given.items()}
    words: dict[str, Any] = {}
    for index, one in enumerate(given if isinstance(given, list) else [given]):
        words |= words_of(one) if isinstance(one, Mapping) else {str(index): one}
    return words


def look_up(data: object, path: str) -> object:
    """The value at ``a:b:c`` in data; None if there is none."""
    for key in path.split(":"):
        if isinstance(data, Mapping) and key in data:
            data = data[key]
        elif isinstance(data, list) and key.isdigit() and int(key) < len(data):
            data = data[int(key)]
        else:
            return None
    return data
