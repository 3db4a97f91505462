"""The comments of cron states."""

from __future__ import annotations

from saltern.modules.api.converge import Words


def words_for(what: str, already: str, verb: str) -> Words:
    return Words(f"{what} {already}", f"{what} would be {verb}", f"{what} was {verb}")
