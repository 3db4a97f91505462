"""Candidates for the next word of a command line, for the completion of shells.

Commands, options and choices come from the tables that read the command line. The metavar of a
word says what it stands for: SLS names come from the tree that the options before the cursor name, runs
from the journals. Nothing is rendered. On any error there are no candidates and no message.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from itertools import islice
from types import SimpleNamespace
from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.cli.arguments import CommandLine, Row, Word
from saltern.cli.commands import COMMANDS

if TYPE_CHECKING:
    from saltern.config.settings import Settings
    from saltern.fleet.client.client import Client

FILES = "\0files"  # asks the shell to complete file names itself
JOBS = 50  # candidates from the newest jobs
# The words of `saltern fleet`, and what may follow each.
FLEET_WORDS: dict[str, tuple[str, ...]] = {
    "status": (),
    "systems": (),
    "keys": ("accept", "reject", "revoke", "restore", "remove", "pending", "accepted", "rejected", "revoked"),
    "tokens": ("new", "remove"),
    "groups": ("set", "remove"),
    "facts": (),
    "demo": (),
}
CHAIN_VERBS = frozenset({"check", "render", "to-sls", "run"})  # those that take a file


class Place(Struct, frozen=True, kw_only=True):
    """Where the cursor is: the command line of the command, the words before it, and the word at it."""

    line: CommandLine
    before: Sequence[str]
    current: str


def candidates(words: Sequence[str], current: str) -> list[str]:
    """``words`` are the words between ``saltern`` and the cursor; ``current`` is the word being typed."""
    if not words:
        return _matching_words((*COMMANDS, "--help", "--version"), current)
    command = COMMANDS.get(words[0])
    if command is None:
        return []
    line: CommandLine = import_module(f"saltern.cli.{command.code}").LINE
    place = Place(line=line, before=words[1:], current=current)
    row = _option_at_cursor(place)
    if row is not None:
        return _values(row.choices, row.metavar, place)
    if current.startswith("-"):
        return _options(place)
    word = _next_word(place)
    return _values(word.choices, word.metavar, place) if word else []


def _matching_words(found: Iterable[str], current: str) -> list[str]:
    return [one for one in found if one == FILES or one.startswith(current)]


def _options(place: Place) -> list[str]:
    flag, equals, value = place.current.partition("=")
    rows = {row.flag: row for row in place.line.rows}
    if equals and flag in rows:
        found = _values(rows[flag].choices, rows[flag].metavar, _at(place, value))
        return [f"{flag}={one}" for one in found if one != FILES] or [FILES]
    return _matching_words((*rows, "--help"), place.current)


def _at(place: Place, current: str) -> Place:
    return Place(line=place.line, before=place.before, current=current)


def _option_at_cursor(place: Place) -> Row | None:
    """The option whose value is at the cursor."""
    rows = {row.flag: row for row in place.line.rows if row.kind not in ("on", "off")}
    return rows.get(place.before[-1]) if place.before else None


def _next_word(place: Place) -> Word | None:
    given = len(positions(place))
    words = place.line.words
    if given < len(words):
        return words[given]
    return words[-1] if words and words[-1].many else None


def positions(place: Place) -> list[str]:
    """The words before the cursor that are neither options nor values of options."""
    takes = {row.flag for row in place.line.rows if row.kind not in ("on", "off")}
    found: list[str] = []
    skip = False
    for word in place.before:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in takes
        else:
            found.append(word)
    return found


def _values(choices: Sequence[str], metavar: str, place: Place) -> list[str]:
    if choices:
        return _matching_words(choices, place.current)
    find = SOURCES.get(metavar)
    try:
        return _matching_words(find(place), place.current) if find else []
    except Exception:  # completion does not report problems of the tree
        return []


# -- what words stand for ------------------------------------------------------------------------------


def _settings(place: Place) -> Settings:
    """The settings from the options before the cursor."""
    from saltern.cli.values import roots
    from saltern.config.load import load

    values: dict[str, list[str]] = {}
    for flag, value in zip(place.before, place.before[1:], strict=False):
        values.setdefault(flag, []).append(value)
    config = values.get("--config", [None])[-1]
    return load(config, {"file_roots": roots(values.get("--file-root"))}, os.environ)[0]


def _sls(place: Place) -> list[str]:
    from saltern.sources.tree import Tree

    tree = Tree(_settings(place).file_roots)
    names = {name for env in tree.environments() for name in tree.sls_names(env)}
    return sorted(names - {"top"})


def _runs(place: Place) -> list[str]:
    from saltern.journal.runs import Runs

    return ["last", *(one.jid for one in Runs(_settings(place)).summaries())]


def _states(_place: Place) -> list[str]:
    return _members("states")


def _functions(_place: Place) -> list[str]:
    return _members("functions")


def _all_members(place: Place) -> list[str]:
    return sorted({*_states(place), *_functions(place)})


def _members(kind: str) -> list[str]:
    from saltern.modules.api.registry import Registry

    registry = Registry()
    return [f"{name}.{member}" for name in registry.names(kind) for member in registry.members(kind, name)]


def _files(_place: Place) -> list[str]:
    return [FILES]


def _sls_and_files(place: Place) -> list[str]:
    return [*_sls(place), FILES]


def _environments(place: Place) -> list[str]:
    from saltern.sources.tree import Tree

    return Tree(_settings(place).file_roots).environments()


def _systems(place: Place) -> list[str]:
    """Names of systems, from the controller."""
    with _client(place) as client:
        return [str(one["id"]) for one in client.systems.list()]


def _targets(place: Place) -> list[str]:
    with _client(place) as client:
        return [*_systems(place), *(f"@{group['name']}" for group in client.groups.list())]


def _jobs(place: Place) -> list[str]:
    with _client(place) as client:
        return ["last", *(str(job["jid"]) for job in islice(client.jobs.list(), JOBS))]


def _client(place: Place) -> Client:
    from saltern.cli.connect import connect

    given = dict(zip(place.before, place.before[1:], strict=False))
    return connect(SimpleNamespace(controller=given.get("--controller"), config=given.get("--config")))


def _fleet_word(place: Place) -> list[str]:
    """After ``saltern fleet``: a verb, then its own word, then the names that it takes."""
    given = positions(place)
    if not given:
        return list(FLEET_WORDS)
    if len(given) == 1 and given[0] in FLEET_WORDS and FLEET_WORDS[given[0]]:
        return list(FLEET_WORDS[given[0]])
    names = {"keys": _systems, "facts": _systems, "systems": _targets, "groups": _groups}
    return names[given[0]](place) if given[0] in names else []


def _groups(place: Place) -> list[str]:
    return [one.removeprefix("@") for one in _targets(place) if one.startswith("@")]


def _chain_word(place: Place) -> list[str]:
    """After the verb: a chain file, or the number of a chain run."""
    verb = next(iter(positions(place)), "")
    if verb in CHAIN_VERBS:
        return [FILES]
    from saltern.chains.legs import Legs

    return Legs(_settings(place)).ids()


# What a metavar stands for. Others have no candidates.
SOURCES: dict[str, Callable[[Place], list[str]]] = {
    "SLS": _sls,
    "PATH|SLS": _sls_and_files,
    "ID|CODE [SLS …]": _sls,
    "RUN": _runs,
    "STATE.FUN": _states,
    "MOD.FUN": _functions,
    "MOD[.FUN]": _all_members,
    "FILE": _files,
    "DIR": _files,
    "[ENV=]DIR": _files,
    "FILE|DIR": _files,
    "YAML|FILE": _files,
    "ENV": _environments,
    "WORD": _chain_word,
    "TARGET": _targets,
    "SYSTEM": _systems,
    "JID": _jobs,
    "FLEET": _fleet_word,
}
