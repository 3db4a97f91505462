"""Reverse ``require_in`` and the other ``_in`` forms: they become plain requisites of their target.

They match an ID, or else names; ``sls: X`` matches the states that X itself
declares. Additions come in the order in which files were opened: including files before included ones.
Patterns are an extension of ours: the plan has one step for all their matches; for ``use_in`` see ``use``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from saltern.language.chunk import Chunk, Requisite
from saltern.language.diagnostics import Diagnostics
from saltern.language.requisites import IN_FORMS
from saltern.plan.matcher import SLS, Matcher

# Reversed here; the plan handles `listen_in` when it looks for listeners.
TURNED = frozenset(IN_FORMS) - {"listen_in"}
# How ``elsewhere`` begins for a name on the other side of a delayed block, which no requisite crosses.
OTHER_SCOPE = ("it is inside block", "it is outside of this block")
MOST_REPEATED = 100  # targets in one list; longer lists are not repeated as in Salt


class Turned(Struct, frozen=True, gc=False):
    """The requisite that an owner adds to a target."""

    requisite: Requisite
    item: dict[str, str]


class Missing(Struct, frozen=True):
    """Reports missing targets; ``elsewhere`` finds the scope of a name that no chunk has."""

    found: Diagnostics
    elsewhere: Callable[[str], str] | None
    strict: bool

    def report(self, owner: Chunk, wanted: Requisite, matcher: Matcher) -> None:
        """Nothing waits for the owner then; formulas rely on that, for what they do not always include."""
        from saltern.plan.unknown import unknown_target

        one = unknown_target(owner, wanted, matcher, self.found, self.elsewhere)
        if one is not None:
            refused = self.strict or one.there.startswith(OTHER_SCOPE)
            report = self.found.error if refused else self.found.warn
            report("requisite-in-unknown", one.what, where=one.where, fix=one.fix)


def reverse(
    chunks: list[Chunk],
    rendered: Collection[str],
    found: Diagnostics,
    elsewhere: Callable[[str], str] | None = None,
    *,
    strict: bool = False,
) -> list[Chunk]:
    """``rendered``: the names of all files, in opening order."""
    owners = [chunk for chunk in chunks if not chunk.words.isdisjoint(TURNED)]
    if not owners:
        return chunks
    matcher = Matcher(chunks, rendered)
    added: dict[int, list[Turned]] = {}
    for owner, word, items in _lists(in_order(owners, rendered)):
        turned = Turned(Requisite(IN_FORMS[word].name, owner.state, owner.id), {owner.state: owner.id})
        for index in _matched_chunks(owner, items, matcher, Missing(found, elsewhere, strict)):
            added.setdefault(index, []).append(turned)
    return [_with(chunk, added[index]) if index in added else chunk for index, chunk in enumerate(chunks)]


def in_order(owners: Sequence[Chunk], rendered: Collection[str]) -> list[Chunk]:
    """Chunks in the opening order of their files, and in file order."""
    opened = {name: at for at, name in enumerate(rendered)}
    return sorted(owners, key=lambda chunk: opened.get(chunk.sls, 0))


def _lists(owners: Sequence[Chunk]) -> Iterator[tuple[Chunk, str, list[Requisite]]]:
    """Each ``_in`` form of each owner, as written; once for all members of ``names``."""
    seen: set[tuple[str, str, str]] = set()
    for owner in owners:
        for word in owner.args:
            key = (owner.state, owner.id, word)
            if word in TURNED and key not in seen:
                seen.add(key)
                yield owner, word, [one for one in owner.requisites if one.kind == word]


def _matched_chunks(
    owner: Chunk, items: Sequence[Requisite], matcher: Matcher, missing: Missing
) -> Iterator[int]:
    """The chunks that an owner matches by name, as often as low data lists it there.

    Salt adds the owner once more for each following item of its list, and scripts may rely on that;
    ``sls`` starts the list again.
    """
    before: list[int] = []
    repeats = len(items) <= MOST_REPEATED
    for wanted in items:
        indexes = matcher.in_form_matches(wanted)
        if not indexes:
            missing.report(owner, wanted, matcher)
            if not wanted.state:
                continue
        if matcher.by_pattern(wanted):
            continue
        before = [*(before if repeats and wanted.state != SLS else ()), *indexes]
        yield from before


def _with(chunk: Chunk, more: list[Turned]) -> Chunk:
    """The chunk with further requisites, also in its arguments, where ``show lowstate`` shows them."""
    args = dict(chunk.args)
    by_kind: dict[str, list[object]] = {}
    for one in more:
        by_kind.setdefault(one.requisite.kind, []).append(one.item)
    for kind, items in by_kind.items():
        if kind != "use":
            before = args.get(kind)
            args[kind] = [*before, *items] if isinstance(before, list) else items
    words = chunk.words | by_kind.keys()
    written = dict.fromkeys((*chunk.requisites, *(one.requisite for one in more)))
    return replace(chunk, args=args, words=words, requisites=tuple(written))
