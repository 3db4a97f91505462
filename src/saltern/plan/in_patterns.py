"""Patterns in ``_in`` forms: owners with the same pattern become one step for all chunks that it matches."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from saltern.language.chunk import Chunk, Requisite
from saltern.language.requisites import IN_FORMS
from saltern.plan.matcher import Matcher

TURNED = frozenset(IN_FORMS) - {"listen_in", "use_in"}


def owners_by_pattern(matcher: Matcher) -> dict[Requisite, list[int]]:
    owners: dict[Requisite, list[int]] = {}
    for index, chunk in enumerate(matcher.chunks):
        for one in chunk.requisites if not chunk.words.isdisjoint(TURNED) else ():
            if one.kind in TURNED and matcher.by_pattern(one):
                owners.setdefault(replace(one, at=-1), []).append(index)
    return owners


def spell_out(low: Sequence[dict[str, object]], chunks: Sequence[Chunk], rendered: Collection[str]) -> None:
    """Show at each target the requisites that it would have without patterns; only for display: it may be
    long.
    """
    matcher = Matcher(chunks, rendered)
    for wanted, owners in owners_by_pattern(matcher).items():
        kind = IN_FORMS[wanted.kind].name
        for index in matcher.in_form_matches(wanted):
            named = dict.fromkeys((chunks[one].state, chunks[one].label) for one in owners if one != index)
            items = [{state: id_} for state, id_ in named]
            own = low[index].get(kind)
            if items:
                low[index][kind] = [*own, *items] if isinstance(own, list) else items
