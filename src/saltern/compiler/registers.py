"""``register`` and ``${delayed:NAME.path}``: references as an implied ``require``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from saltern.compiler.parse import kind_of
from saltern.language.chunk import Chunk, Requisite, with_values
from saltern.language.diagnostics import Diagnostics, did_you_mean
from saltern.language.late import FIX, NAME, BadReference, references
from saltern.language.requisites import REQUISITE_WORDS
from saltern.language.source import Mark


def relate(chunks: Iterable[Chunk], found: Diagnostics, around: Mapping[str, Mark]) -> dict[str, Chunk]:
    """Make every chunk that refers to a register require the state that fills it.

    Returns the registers of these chunks; ``around`` are those of other scopes.
    """
    chunks = list(chunks)
    known = _registers(chunks, found)
    for chunk in chunks:
        _ask(chunk, known, around, found)
    return known


def _ask(chunk: Chunk, known: dict[str, Chunk], around: Mapping[str, Mark], found: Diagnostics) -> None:
    names: dict[str, None] = {}
    escaped = False
    for word, value in (("name", chunk.name), *chunk.args.items()):
        if word in REQUISITE_WORDS:
            continue
        try:
            asked = list(references(value))
        except BadReference as problem:
            found.error("late-shape", str(problem), where=chunk.mark(word))
            continue
        for name, path in ((one.name, one.path) for one in asked):
            if not name:
                escaped = True
            elif not path:
                if name in known or name in around:
                    found.error(
                        "late-shape", f"'${{delayed:{name}}}' has no path", where=chunk.mark(word), fix=FIX
                    )
            elif name in known and known[name] is not chunk:
                names[name] = None
            else:
                what, fix = _unknown(name, known, around)
                found.error(
                    "late-unknown", f"{word!r} of {chunk.id!r} {what}", where=chunk.mark(word), fix=fix
                )
    if names:
        chunk.late = tuple(names)
        implied = [Requisite("require", known[name].state, known[name].id) for name in names]
        chunk.requisites = (*chunk.requisites, *implied)
    elif escaped:
        plain = with_values(chunk, lambda reference: reference.text)
        chunk.args, chunk.name, chunk.delayed = plain.args, plain.name, plain.delayed


def _registers(chunks: Iterable[Chunk], found: Diagnostics) -> dict[str, Chunk]:
    known: dict[str, Chunk] = {}
    for chunk in chunks:
        if "register" not in chunk.words:
            continue
        name = chunk.args["register"]
        if not isinstance(name, str) or not re.fullmatch(NAME, name):
            what = f"'register' of {chunk.id!r} is {name if isinstance(name, str) else kind_of(name)!r}"
            fix = "write a name of letters, digits, '_' and '-'"
            found.error("register-name", what, where=chunk.mark("register"), fix=fix)
        elif name in known:
            first = known[name]
            same = first.declared is chunk.declared
            found.error(
                "register-twice",
                f"{name!r} is registered by {'each of the names of' if same else 'two states,'} {chunk.id!r}"
                + ("" if same else f" and {first.id!r}"),
                where=chunk.mark("register"),
                fix="a name identifies one state: give each its own",
                also=() if same else (("first", first.mark("register")),),
            )
        else:
            known[name] = chunk
    return known


def _unknown(name: str, known: Mapping[str, Chunk], around: Mapping[str, Mark]) -> tuple[str, str]:
    """The mistake in a requested name, and its fix."""
    if name in known:
        return "asks for its own return", "refer to a state that runs before it"
    what = f"asks for {name!r}, which no state registers"
    if name in around:
        return what, (
            f"it is registered outside of this block ({around[name]}), and names stay in their scope: "
            "pass the value with 'context' of the entry that calls the block"
        )
    return what, did_you_mean(name, known) or f"write '- register: {name}' in the state that you mean"
