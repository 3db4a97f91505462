"""``reactor:`` of the configuration: patterns of tags, and the files that define the reactions. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from msgspec import Struct

OWN = "saltern/reactor/"  # tags of the reactor's own events, which cause no reactions


class Rule(Struct, frozen=True):
    """One row: the files for events whose tag matches."""

    pattern: str
    sources: tuple[str, ...]


class BadMap(ValueError):
    """The map cannot be read; the text says why."""


def read_map(value: object) -> tuple[Rule, ...]:
    """The rows of a map, as in Salt: a list of mappings with one pattern each."""
    if isinstance(value, dict):
        value = [{pattern: sources} for pattern, sources in value.items()]
    if not isinstance(value, list):
        raise BadMap("a list of 'TAG: [FILES]' is needed")
    return tuple(rule for row in value for rule in _rules(row))


def _rules(row: object) -> list[Rule]:
    if not isinstance(row, dict) or not row:
        raise BadMap(f"{row!r} is not of the form 'TAG: [FILES]'")
    return [Rule(str(pattern), _sources(pattern, given)) for pattern, given in row.items()]


def _sources(pattern: object, given: object) -> tuple[str, ...]:
    several = given if isinstance(given, list) else [given]
    if not several or not all(isinstance(one, str) and one.strip() for one in several):
        raise BadMap(f"{str(pattern)!r} needs a file, or a list of files")
    return tuple(str(one).strip() for one in several)


def sources_for(rules: Iterable[Rule], tag: str) -> tuple[str, ...]:
    """The reaction files for an event, each once, in the order of the map."""
    if tag.startswith(OWN):
        return ()
    found = (source for rule in rules if fnmatchcase(tag, rule.pattern) for source in rule.sources)
    return tuple(dict.fromkeys(found))
