"""``register`` and ``${delayed:NAME.path}``: who asks for whom, as an implied ``require``."""

from __future__ import annotations

from collections.abc import Iterable

from saltern.compiler.parse import kind_of
from saltern.language.chunk import Chunk, Requisite
from saltern.language.diagnostics import Diagnostics, did_you_mean
from saltern.language.late import NAME, BadReference, references
from saltern.language.requisites import REQUISITE_WORDS


def relate(chunks: Iterable[Chunk], found: Diagnostics) -> None:
    """Every chunk that refers to a register comes after the state that fills it."""
    chunks = list(chunks)
    known = _registers(chunks, found)
    for chunk in chunks:
        names: dict[str, None] = {}
        for word, value in (("name", chunk.name), *chunk.args.items()):
            if word in REQUISITE_WORDS:
                continue
            try:
                asked = [reference.name for reference in references(value)]
            except BadReference as problem:
                found.error("late-shape", str(problem), where=chunk.mark(word))
                continue
            for name in asked:
                if name in known and known[name] is not chunk:
                    names[name] = None
                else:
                    _unknown(chunk, word, name, known, found)
        if names:
            chunk.late = tuple(names)
            implied = [Requisite("require", known[name].state, known[name].id) for name in names]
            chunk.requisites = (*chunk.requisites, *implied)


def _registers(chunks: Iterable[Chunk], found: Diagnostics) -> dict[str, Chunk]:
    known: dict[str, Chunk] = {}
    for chunk in chunks:
        if "register" not in chunk.words:
            continue
        name = chunk.args["register"]
        if not isinstance(name, str) or not NAME.fullmatch(name):
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
                fix="a name stands for one state: give each its own",
                also=() if same else (("first", first.mark("register")),),
            )
        else:
            known[name] = chunk
    return known


def _unknown(chunk: Chunk, word: str, name: str, known: dict[str, Chunk], found: Diagnostics) -> None:
    if name in known:
        what = f"{word!r} of {chunk.id!r} asks for its own return"
        fix = "refer to a state that runs before it"
    else:
        what = f"{word!r} of {chunk.id!r} asks for {name!r}, which no state registers"
        fix = did_you_mean(name, known) or f"write '- register: {name}' in the state that is meant"
    found.error("late-unknown", what, where=chunk.mark(word), fix=fix)
