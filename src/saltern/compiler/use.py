"""``use``: inherit the plain arguments of another state that the state itself does not set.

Requisites, conditions and other words of the engine are never inherited, nor are names. Only the source's
own arguments count, not those that it inherits. The last of several sources wins.

What a pattern offers is computed once for all users; so is what all states offer whose ``use_in`` has
the same pattern. Each offer therefore records the positions of its values in the order of sources.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec.structs import replace

from saltern.compiler.reverse import in_order
from saltern.language.chunk import Chunk, Requisite
from saltern.language.diagnostics import Diagnostics
from saltern.language.keywords import ENGINE_WORDS
from saltern.plan.matcher import Matcher, describe_requisite

Rank = tuple[int, ...]
Offer = Mapping[str, tuple[Rank, Rank, object]]  # argument → its first and last position, and its last value
OWN, TURNED = 0, 1  # written in the state itself; added by a ``use_in``, which comes after


def use(chunks: list[Chunk], rendered: Collection[str], found: Diagnostics) -> list[Chunk]:
    if not any("use" in chunk.words or "use_in" in chunk.words for chunk in chunks):
        return chunks
    sources = _Sources(chunks, rendered, found)
    return [
        sources.apply_offers(index, chunk) if "use" in chunk.words or index in sources.reached else chunk
        for index, chunk in enumerate(chunks)
    ]


class _Sources:
    """What the states of a run can inherit from each other."""

    def __init__(self, chunks: list[Chunk], rendered: Collection[str], found: Diagnostics) -> None:
        self._found = found
        self._matcher = Matcher(chunks, rendered)
        givers = in_order([chunk for chunk in chunks if "use_in" in chunk.words], rendered)
        self._ranks = {key: at for at, key in enumerate(dict.fromkeys((one.state, one.id) for one in givers))}
        self._known: dict[tuple[str, str], Offer] = {}
        self.reached: dict[int, list[Offer]] = {}  # by patterns of ``use_in``
        for wanted, owners in self._patterns(givers).items():
            offer = _merge_offers(self._turned_offer(Requisite("use", *owner)) for owner in owners)
            for index in self._matcher.in_form_matches(wanted):
                self.reached.setdefault(index, []).append(offer)

    def apply_offers(self, index: int, chunk: Chunk) -> Chunk:
        offers = [*self._offers(chunk), *self.reached.get(index, ())]
        all_of_them = _merge_offers(offers)
        order = sorted(all_of_them, key=lambda key: all_of_them[key][0]) if len(offers) > 1 else all_of_them
        more = {key: all_of_them[key][2] for key in order if key not in chunk.args}
        return replace(chunk, args={**chunk.args, **more}, words=chunk.words | {"use"})

    def _offers(self, chunk: Chunk) -> Iterator[Offer]:
        for at, wanted in enumerate(chunk.requisites):
            if wanted.kind == "use" and wanted.at < 0 and (wanted.state, wanted.value) in self._ranks:
                yield self._turned_offer(wanted)
            elif wanted.kind == "use":
                if not self._matcher.find(wanted):
                    self._unknown(chunk, wanted)
                yield _at((OWN, at), self._offer(wanted))

    def _turned_offer(self, owner: Requisite) -> Offer:
        return _at((TURNED, self._ranks[owner.state, owner.value]), self._offer(owner))

    def _offer(self, wanted: Requisite) -> Offer:
        key = (wanted.state, wanted.value)
        if key not in self._known:
            indexes = self._matcher.find(wanted)
            self._known[key] = _merge_offers(_plain(self._matcher.chunks[index], index) for index in indexes)
        return self._known[key]

    def _patterns(self, givers: Iterable[Chunk]) -> dict[Requisite, dict[tuple[str, str], None]]:
        """Each pattern of a ``use_in``, and its owners."""
        found: dict[Requisite, dict[tuple[str, str], None]] = {}
        for giver in givers:
            for one in giver.requisites:
                if one.kind == "use_in" and self._matcher.by_pattern(one):
                    found.setdefault(replace(one, at=-1), {})[giver.state, giver.id] = None
        return found

    def _unknown(self, chunk: Chunk, wanted: Requisite) -> None:
        self._found.warn(
            "use-unknown",
            f"'use' of {chunk.id!r} names {describe_requisite(wanted)}, which no SLS of this run declares",
            where=chunk.mark("use", wanted.at),
            fix=self._matcher.suggestion(wanted),
        )


def _plain(chunk: Chunk, index: int) -> Offer:
    given = ((key, value) for key, value in chunk.args.items() if key not in ENGINE_WORDS)
    return {key: ((index, at), (index, at), value) for at, (key, value) in enumerate(given)}


def _at(rank: Rank, offer: Offer) -> Offer:
    return {key: ((*rank, *first), (*rank, *last), value) for key, (first, last, value) in offer.items()}


def _merge_offers(offers: Iterable[Offer]) -> Offer:
    """The first position of each argument, and its last value."""
    result: dict[str, tuple[Rank, Rank, object]] = {}
    for offer in offers:
        for key, (first, last, value) in offer.items():
            known = result.get(key)
            if known is None:
                result[key] = (first, last, value)
            else:
                newer = (last, value) if last > known[1] else known[1:]
                result[key] = (min(first, known[0]), *newer)
    return result
