"""``delayed_render``: resolve and check the targets of each caller before anything runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from saltern.compiler.parse import absolute_name, kind_of
from saltern.compiler.ports import Sources
from saltern.language.chunk import Chunk
from saltern.language.delayed import WHEN, WORDS, Block, BlockScope, Limit, Target, scope_of
from saltern.language.diagnostics import CompileError, Diagnostics, did_you_mean
from saltern.language.source import Mark, Origin, Path, SlsRef
from saltern.render.blocks import sls_words

KINDS = ("block", "sls")
ENTRY_FIX = "write '- block: NAME' or '- sls: NAME'"
_DRAFT = {"delayed_blocks": "block", "delayed_slses": "sls"}
_ENTRY_KEYS = (*KINDS, "context", "when")


class _Entry(Struct, frozen=True):
    """One entry, and where it is written."""

    word: str
    value: object
    origin: Origin
    path: Path


def attach(chunks: Iterable[Chunk], sources: Sources, default: Limit, found: Diagnostics) -> None:
    """Give every caller its targets. ``default`` is the repeat limit of tags without one."""
    callers = [chunk for chunk in chunks if not chunk.words.isdisjoint(WORDS)]
    for chunk in callers:
        targets = (_target(chunk, entry, sources, found) for entry in _entries(chunk, found))
        chunk.delayed = tuple(target for target in targets if target is not None)
    _warn_of_limits(callers, default, found)


def _entries(chunk: Chunk, found: Diagnostics) -> Iterator[_Entry]:
    for word in chunk.args:
        if word not in WORDS:
            continue
        value = chunk.args[word]
        if not isinstance(value, list):
            what = f"{word!r} of {chunk.id!r} is {kind_of(value)}, not a list"
            found.error("delayed-not-list", what, where=chunk.mark(word), fix="begin each entry with '- '")
            continue
        for index, entry in enumerate(value):
            yield _Entry(word, entry, *_entry_origin(chunk, word, index))


def _entry_origin(chunk: Chunk, word: str, index: int) -> tuple[Origin, Path]:
    """Where an entry is written: an entry from ``extend`` is in another file, and names are relative to
    that file.
    """
    declared = chunk.declared
    for added in reversed(declared.added):
        if added.word == word and index >= added.start:
            return added.origin, (*added.path, word, index - added.start)
    return declared.origin, (declared.id, declared.key, word, index)


def _target(chunk: Chunk, entry: _Entry, sources: Sources, found: Diagnostics) -> Target | None:
    try:
        kind, name, context, when = _shape(entry)
    except _Wrong as wrong:
        for what, fix in wrong.ways:
            problem = f"{entry.word!r} of {chunk.id!r} {what}"
            found.error("delayed-entry", problem, where=entry.origin.mark(entry.path), fix=fix)
        return None
    find = _block if kind == "block" else _sls
    target = find(chunk, entry, name, sources, found)
    if target is None:
        return None
    return replace(target, context=context, when=when, origin=entry.origin, path=entry.path)


class _Wrong(Exception):
    """A malformed entry: all its mistakes, each with its fix."""

    def __init__(self, *ways: tuple[str, str]) -> None:
        super().__init__(*ways)
        self.ways = ways


def _shape(entry: _Entry) -> tuple[str, str, Mapping[str, object], str]:
    """Kind, name, context and when. Raises ``_Wrong``."""
    value = entry.value
    if entry.word in _DRAFT:
        if isinstance(value, str) and value:
            return _DRAFT[entry.word], value, {}, WHEN[0]
        raise _Wrong((f"has {kind_of(value)} where a name belongs", "write '- NAME'"))
    if not isinstance(value, dict):
        fix = f"write '- block: {value}' or '- sls: {value}'" if isinstance(value, str) else ENTRY_FIX
        raise _Wrong((f"has {kind_of(value)} where an entry belongs", fix))
    if wrong := list(_wrong(value)):
        raise _Wrong(*wrong)
    kind = next(kind for kind in KINDS if kind in value)
    return kind, value[kind], value.get("context") or {}, value.get("when", WHEN[0])


def _wrong(value: Mapping[object, object]) -> Iterator[tuple[str, str]]:
    known = f"an entry has {', '.join(_ENTRY_KEYS)}"
    for key in value:
        if key not in _ENTRY_KEYS:
            yield f"has the key {key!r}, which is not known", did_you_mean(str(key), _ENTRY_KEYS) or known
    kinds = [kind for kind in KINDS if kind in value]
    if len(kinds) > 1:
        yield "has an entry with both a block and an sls", ENTRY_FIX
    elif not kinds and all(key in _ENTRY_KEYS for key in value):
        yield "has an entry without a name", ENTRY_FIX
    for kind in kinds:
        name = value[kind]
        if not isinstance(name, str) or not name:
            fix = ENTRY_FIX if not name or isinstance(name, list | dict) else "put it in quotes"
            yield f"names {kind_of(name)}; a name is text", fix
    context = value.get("context") or {}
    if not isinstance(context, dict) or not all(isinstance(key, str) for key in context):
        yield f"has {kind_of(context)} for 'context'", "write 'context: {name: value}'"
    when = value.get("when", WHEN[0])
    if when not in WHEN:
        yield f"has {when!r} for 'when'", did_you_mean(str(when), WHEN) or f"it is one of {', '.join(WHEN)}"


def _block(chunk: Chunk, entry: _Entry, name: str, _sources: Sources, found: Diagnostics) -> Target | None:
    scope = scope_of(entry.origin)
    known = scope.find(name)
    if known is None:
        what = f"{entry.word!r} of {chunk.id!r} names the block {name!r}, which this file does not have"
        fix, also = _missing_block(name, scope)
        found.error("delayed-unknown", what, where=entry.origin.mark(entry.path), fix=fix, also=also)
        return None
    block, home = known
    return Target(
        kind="block", name=name, block=block, words=block.words, scope=home, definition=block.definition
    )


def _missing_block(name: str, scope: BlockScope) -> tuple[str, tuple[tuple[str, Mark], ...]]:
    if name in scope.imported:
        fix = "its template is only imported; include or extend it to use its blocks in this file"
        return fix, (("imported", scope.imported[name]),)
    near = did_you_mean(name, list(scope.names()))
    text = getattr(getattr(scope.home, "source", None), "text", "")
    if inset := re.search(rf"^[ \t]+#!delayed_block[ \t]+{re.escape(name)}(?!\S)", text, re.MULTILINE):
        line = text.count("\n", 0, inset.start()) + 1
        fix = f"the tag in line {line} is indented, which makes it text: begin it and its end in column 1"
        return fix, ()
    return near or f"add it: a line '#!delayed_block {name}' … a line '#!end_delayed_block {name}'", ()


def _sls(chunk: Chunk, entry: _Entry, name: str, sources: Sources, found: Diagnostics) -> Target | None:
    where = entry.origin.mark(entry.path)
    ref = chunk.declared.ref
    absolute = absolute_name(name, ref.name, is_init=getattr(entry.origin, "is_init", False))
    if absolute is None:
        what = f"{name!r} leads out of the tree from {ref.name!r}"
        found.error("include-beyond-top", what, where=where, fix="remove a dot")
        return None
    wanted = SlsRef(ref.env, absolute)
    try:
        source = sources.source(wanted)
        if source is None:
            what = f"{entry.word!r} of {chunk.id!r} names the SLS {absolute!r}, which does not exist"
            path = absolute.replace(".", "/")
            fix = (
                did_you_mean(absolute, sources.names(ref.env)) or f"it would be {path}.sls or {path}/init.sls"
            )
            found.error("sls-not-found", what, where=where, fix=fix)
            return None
        words = sls_words(source.text, source.path, found)
    except CompileError as problem:
        found.add(problem.diagnostics)
        return None
    return Target(
        kind="sls",
        name=absolute,
        source=source,
        words=words,
        scope=scope_of(entry.origin),
        definition=(f"{wanted.env}:", absolute),
    )


def _warn_of_limits(callers: Sequence[Chunk], default: Limit, found: Diagnostics) -> None:
    """Warn before the run if there are more calls than the limit allows."""
    calls: dict[tuple[str, ...], list[tuple[Chunk, Target]]] = {}
    for chunk in callers:
        for target in chunk.delayed:
            calls.setdefault(target.definition, []).append((chunk, target))
    for some in calls.values():
        chunk, target = some[0]
        limit = default if target.words.limit is None else target.words.limit
        if isinstance(limit, int) and len(some) > limit:
            found.warn(
                "delayed-limit-low",
                f"{target.kind} {target.name!r} is called {len(some)} times here, rendered {limit} at most",
                where=target.mark(),
                fix=f"delayed_repeat_limit={len(some)} or None on its tag",
            )


def called_blocks(chunks: Iterable[Chunk]) -> Iterator[Block]:
    """The blocks that the entries of states call."""
    return (target.block for chunk in chunks for target in chunk.delayed if target.block is not None)
