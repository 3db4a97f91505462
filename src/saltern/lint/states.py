"""Rules about states: they check the chunks that a run would have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from saltern.engine.session import Session
from saltern.language.chunk import HIDDEN, Chunk, Requisite
from saltern.language.hidden import shown_chunk
from saltern.language.late import OPEN
from saltern.language.nature import Nature
from saltern.language.patterns import is_pattern
from saltern.language.requisites import ORDERING, WITHOUT_REACTION
from saltern.language.source import SlsRef
from saltern.lint.files import KeptLoader
from saltern.lint.findings import Findings
from saltern.modules.api.params import BadArgument
from saltern.modules.api.registry import schema
from saltern.plan.matcher import SLS, describe_requisite
from saltern.runtime.slots import PREFIX

# Each of these determines when a command has to run.
_GUARDS = {"unless", "onlyif", "creates", "stateful", "prereq", "onchanges", "onchanges_any"}
_GUARDS |= {"onfail", "onfail_any", "onfail_all", "read_only"}
_ORDERING = frozenset(kind.name for kind in ORDERING)
_SALT = "salt://"
_SOURCE = re.compile(r"/|[A-Za-z][\w+.-]*://|__slot__")


class Unit(Struct, frozen=True, kw_only=True):
    """Files that are compiled together, as in one run; ``wanted`` are those that the rules check.

    ``late``: it is a delayed frame.
    """

    session: Session
    loader: KeptLoader
    chunks: list[Chunk]
    wanted: frozenset[SlsRef]
    late: bool = False

    def states(self) -> Iterator[Chunk]:
        return (chunk for chunk in self.chunks if chunk.declared.ref in self.wanted)

    def nature(self, chunk: Chunk) -> Nature:
        return self.session.registry.nature(chunk.state, chunk.fun)


def command_unguarded(unit: Unit, found: Findings) -> None:
    for chunk in unit.states():
        if unit.nature(chunk).acts_always and _GUARDS.isdisjoint(chunk.words | chunk.args.keys()):
            found.warn(
                "command-unguarded",
                f"the command of {chunk.label!r} runs every time, which always counts as a change",
                where=chunk.mark(),
                fix="say when it must run: unless, onlyif, creates, onchanges",
            )


def watch_without_reaction(unit: Unit, found: Findings) -> None:
    reacts = unit.session.caller.reacts
    for chunk in unit.states():
        for word in WITHOUT_REACTION.keys() & chunk.declared.words:
            if not reacts(chunk.state):
                found.warn(
                    "watch-without-reaction",
                    f"{chunk.state!r} does not react to changes: {word!r} of {chunk.label!r} only requires",
                    where=chunk.mark(word),
                    fix=f"write {WITHOUT_REACTION[word]!r}, or 'onchanges' to run it after changes only",
                )
        for one in chunk.requisites:
            if one.kind == "watch_in" and one.state not in ("", SLS) and not reacts(one.state):
                found.warn(
                    "watch-without-reaction",
                    f"{one.state!r} does not react to changes: 'watch_in' of {chunk.label!r} only orders",
                    where=chunk.mark(one.kind, one.at),
                    fix="write 'require_in', or 'onchanges_in' if it is to run after changes only",
                )


def order_with_requisites(unit: Unit, found: Findings) -> None:
    for chunk in unit.states():
        waits = _ORDERING & chunk.declared.words
        if "order" in chunk.declared.words and waits:
            found.warn(
                "order-with-requisites",
                f"{chunk.label!r} has both 'order' and {min(waits)!r}; the states that it waits for run "
                "before it",
                where=chunk.mark("order"),
                fix="keep the requisites, which also state the reason",
            )


def argument_value(unit: Unit, found: Findings) -> None:
    for chunk in unit.states():
        function = unit.session.registry.state(chunk.state, chunk.fun)
        converters = schema(function).converters if function is not None else {}
        for name in converters.keys() & chunk.args.keys():
            value = chunk.args[name]
            if isinstance(value, str) and (PREFIX in value or OPEN in value):
                continue  # known when it runs
            try:
                converters[name](value)
            except BadArgument as problem:
                said = HIDDEN if chunk.hidden else problem
                what = f"{chunk.function}: the argument {name!r} {said}"
                found.warn("argument-value", what, where=chunk.mark(name))


def path_relative(unit: Unit, found: Findings) -> None:
    for chunk in unit.states():
        if unit.nature(chunk).name_is != "path" or chunk.name.startswith(("/", "~")):
            continue
        if PREFIX not in chunk.name and OPEN not in chunk.name:
            what = f"{chunk.function} needs an absolute path, got {shown_chunk(chunk).name!r}"
            given = {key for item in chunk.declared.items if isinstance(item, dict) for key in item}
            word = "names" if "names" in given else "name"
            fix = "begin it with '/'" if word in given else "the ID is the path, unless '- name: /…' says it"
            found.warn("path-relative", what, where=chunk.mark(word), fix=fix)


def source_missing(unit: Unit, found: Findings) -> None:
    for chunk in unit.states():
        if chunk.hidden:
            continue  # the message would contain what it hides
        given = chunk.args.get("source")
        named = given if isinstance(given, list) else [given]
        texts = [str(next(iter(one), "")) if isinstance(one, dict) else one for one in named]
        if unit.nature(chunk).from_file:
            _no_source(chunk, texts, found)
        own = [text for text in texts if isinstance(text, str) and text.startswith(_SALT)]
        if not own or len(own) < len(texts) or any(_is_there(unit, chunk, text) for text in own):
            continue
        what = f"{own[0]!r} is not in the file roots"
        if len(own) > 1:
            what = f"none of {', '.join(map(repr, own))} is in the file roots"
        found.warn("source-missing", f"{chunk.function}: {what}", where=chunk.mark("source"))


def _no_source(chunk: Chunk, texts: list[object], found: Findings) -> None:
    for text in texts:
        if isinstance(text, str) and text and not _SOURCE.match(text) and OPEN not in text:
            what = f"{chunk.function}: {text!r} is neither a salt:// name, nor a URL, nor an absolute path"
            fix = f"write 'salt://{text.removeprefix('salt:').lstrip('/')}' for a file of the file roots"
            found.warn("source-missing", what, where=chunk.mark("source"), fix=fix)


def _is_there(unit: Unit, chunk: Chunk, text: str) -> bool:
    from os.path import exists

    path, _, query = text.removeprefix(_SALT).partition("?saltenv=")
    if path.startswith("|") or OPEN in path:
        return True  # a pattern of its own, or known when it runs
    env = query or str(chunk.args.get("saltenv") or chunk.env)
    tree = unit.session.tree
    return tree.find(path, env) is not None or any(exists(f"{root}/{path}") for root in tree.roots(env))


def requisite_not_included(unit: Unit, found: Findings) -> None:
    """Report requisites that work in this run only because something else includes the file."""
    if unit.late:
        return  # a block has an include of its own
    declared: dict[str, set[SlsRef]] = {}
    for chunk in unit.chunks:
        for name in (chunk.id, chunk.name):
            declared.setdefault(name, set()).add(chunk.declared.ref)
    for chunk in unit.states():
        for one in chunk.requisites:
            ref = chunk.declared.ref
            homes = declared.get(one.value, set())
            if not homes or ref in homes or one.state == SLS or is_pattern(one.value):
                continue
            if homes.isdisjoint(unit.loader.reach(ref)) and _is_written(unit, chunk, one):
                home = min(homes, key=str)
                found.warn(
                    "requisite-not-included",
                    f"{one.kind!r} of {chunk.label!r} names {describe_requisite(one)} of {home.name!r},"
                    " which this file does not include",
                    where=chunk.mark(one.kind, one.at),
                    fix=f"add '- {home.name}' to its include list",
                )


def _is_written(unit: Unit, chunk: Chunk, wanted: Requisite) -> bool:
    """True if the file itself has the requisite, and not an ``extend`` of another file."""
    file = unit.loader.file(chunk.declared.ref)
    for declared in file.declarations if file else ():
        if (declared.id, declared.state) == (chunk.id, chunk.state):
            lists = [item.get(wanted.kind) for item in declared.items if isinstance(item, dict)]
            entries = [entry for some in lists if isinstance(some, list) for entry in some]
            return wanted.value in entries or {wanted.state: wanted.value} in entries
    return False
