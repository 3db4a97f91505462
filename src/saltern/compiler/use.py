"""``use``: take over the plain arguments of another state, where the own ones are silent.

Requisites, conditions and all other words of the engine are never taken, nor are names. The source's
own arguments count, not those it takes over itself. Of several sources the last one wins.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.language.keywords import ENGINE_WORDS
from saltern.plan.matcher import Matcher, described


def use(chunks: list[Chunk], rendered: Collection[str], found: Diagnostics) -> list[Chunk]:
    if not any("use" in chunk.words for chunk in chunks):
        return chunks
    matcher = Matcher(chunks, rendered)
    return [_taken(chunk, matcher, found) if "use" in chunk.words else chunk for chunk in chunks]


def _taken(chunk: Chunk, matcher: Matcher, found: Diagnostics) -> Chunk:
    taken: dict[str, object] = {}
    for wanted in chunk.requisites:
        if wanted.kind != "use":
            continue
        targets = matcher.find(wanted)
        if not targets:
            found.warn(
                "use-unknown",
                f"'use' of {chunk.id!r} names {described(wanted)}, which no SLS of this run declares",
                where=chunk.mark("use", wanted.at),
                fix=matcher.suggestion(wanted),
            )
        for index in targets:
            for key, value in matcher.chunks[index].args.items():
                if key not in ENGINE_WORDS and key not in chunk.args:
                    taken[key] = value
    return replace(chunk, args={**chunk.args, **taken})
