"""``require_in`` and its kin, turned around: what they say becomes a plain requisite of their target."""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec.structs import replace

from saltern.language.chunk import Chunk, Requisite
from saltern.language.diagnostics import Diagnostics
from saltern.language.requisites import IN_FORMS
from saltern.plan.index import Index, described, is_pattern

# Turned around here; `listen_in` is, by the plan, when it looks for those who listen.
TURNED = frozenset(IN_FORMS) - {"listen_in"}


def reverse(
    chunks: list[Chunk],
    rendered: Collection[str],
    found: Diagnostics,
    elsewhere: Callable[[str], str] | None = None,
) -> list[Chunk]:
    """``elsewhere`` says where a name is that no chunk has."""
    owners = [chunk for chunk in chunks if not chunk.words.isdisjoint(TURNED)]
    if not owners:
        return chunks
    index = Index(chunks, rendered)
    added: dict[int, list[Requisite]] = {}
    for owner in owners:
        for word in TURNED & owner.words:
            items = [one for one in owner.requisites if one.kind == word]
            turned = Requisite(IN_FORMS[word].name, owner.state, owner.id)
            for at, wanted in enumerate(items):
                targets = index.find(wanted)
                if not targets:
                    there = elsewhere(wanted.value) if elsewhere else ""
                    _missing(owner, wanted, there or index.suggestion(wanted), found)
                for place in targets:
                    more = added.setdefault(place, [])
                    if turned not in more:
                        # Low data repeats it for each item that follows, and scripts have seen it so.
                        more += [turned] * (len(items) - at)
    return [_with(chunk, added[place]) if place in added else chunk for place, chunk in enumerate(chunks)]


def _with(chunk: Chunk, more: list[Requisite]) -> Chunk:
    """The chunk with further requisites, in its arguments too, where ``show lowstate`` shows them."""
    args = dict(chunk.args)
    for one in more:
        if one.kind != "use":
            before = args.get(one.kind)
            item = {one.state: one.value}
            args[one.kind] = [*before, item] if isinstance(before, list) else [item]
    words = chunk.words | {one.kind for one in more}
    requisites = tuple(dict.fromkeys((*chunk.requisites, *more)))
    return replace(chunk, args=args, words=words, requisites=requisites)


def _missing(owner: Chunk, wanted: Requisite, fix: str, found: Diagnostics) -> None:
    what = f"{wanted.kind!r} of {owner.id!r} names {described(wanted)}, which no SLS of this run declares"
    if is_pattern(wanted.value):
        found.warn("requisite-matches-nothing", what, where=owner.mark(wanted.kind, wanted.at))
    else:
        found.error("requisite-unknown", what, where=owner.mark(wanted.kind, wanted.at), fix=fix)
