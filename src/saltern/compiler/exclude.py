"""``exclude``: drop whole SLS files, or single IDs.

Exclusions of the command line also apply to delayed frames: whether they match anything is
known when the last frame has run.

Runs after the ``_in`` forms are reversed, as in Salt: references to an excluded ID are
found when the plan is made.
"""

from __future__ import annotations

from collections.abc import Iterable

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics, did_you_mean
from saltern.language.high import Exclusion

Used = set[tuple[str, str]]  # IDs and SLS names of rules that matched


def exclude(chunks: list[Chunk], rules: Iterable[Exclusion], found: Diagnostics, used: Used) -> list[Chunk]:
    from fnmatch import fnmatchcase

    ids, files = {chunk.id for chunk in chunks}, {chunk.sls for chunk in chunks}
    gone: set[str] = set()
    gone_files: set[str] = set()
    for rule in rules:
        hit = {rule.id} & ids if rule.id else {sls for sls in files if fnmatchcase(sls, rule.sls)}
        (gone if rule.id else gone_files).update(hit)
        if hit:
            used.add((rule.id, rule.sls))
        elif rule.origin is not None:
            _warn(rule, chunks, found)
    return [chunk for chunk in chunks if chunk.id not in gone and chunk.sls not in gone_files]


def warn_of_unused(
    rules: Iterable[Exclusion], used: Used, chunks: Iterable[Chunk], found: Diagnostics
) -> None:
    """Warn about exclusions of the command line that match nothing in the run."""
    for rule in rules:
        if (rule.id, rule.sls) not in used:
            _warn(rule, chunks, found)


def _warn(rule: Exclusion, chunks: Iterable[Chunk], found: Diagnostics) -> None:
    found.warn(
        "exclude-matches-nothing",
        f"exclude names {rule.id or rule.sls!r}, which is not part of this run",
        where=rule.mark(),
        fix=_advice(rule, {chunk.id for chunk in chunks}),
    )


def _advice(rule: Exclusion, ids: set[str]) -> str:
    if rule.id:
        return did_you_mean(rule.id, ids)
    return f"it is an ID: write {{id: {rule.sls}}}" if rule.sls in ids else ""
