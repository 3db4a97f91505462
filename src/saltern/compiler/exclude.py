"""``exclude``: drop whole SLS files, or single IDs.

Comes after the ``_in`` forms are turned around, as in Salt: what still points at an excluded ID is
found when the plan is made.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics, did_you_mean
from saltern.language.high import Exclusion


def exclude(chunks: list[Chunk], rules: list[Exclusion], found: Diagnostics) -> list[Chunk]:
    for rule in rules:
        if not any(_hits(rule, chunk) for chunk in chunks):
            found.warn(
                "exclude-matches-nothing",
                f"exclude names {rule.id or rule.sls!r}, which is not part of this run",
                where=rule.mark(),
                fix=did_you_mean(rule.id, {chunk.id for chunk in chunks}) if rule.id else "",
            )
    return [chunk for chunk in chunks if not any(_hits(rule, chunk) for rule in rules)]


def _hits(rule: Exclusion, chunk: Chunk) -> bool:
    return rule.id == chunk.id if rule.id else fnmatchcase(chunk.sls, rule.sls)
