"""``/go``: redirects to the system, run, job or chain that a word names."""

from __future__ import annotations

from urllib.parse import quote

from saltern.fleet.api.problems import status_of
from saltern.fleet.console.row import Visit
from saltern.language.diagnostics import SalternError

# What a word may name, in this order: the action that is needed, the route that finds it, and the page.
KINDS = (
    ("systems.read", "/v1/systems/{system}", "system", "/systems/"),
    ("jobs.read", "/v1/chain-runs/{run}/moments", "run", "/runs/"),
    ("jobs.read", "/v1/jobs/{jid}", "jid", "/jobs/"),
    ("chains.read", "/v1/chains/{chain}", "chain", "/chains/"),
)


async def place_of(visit: Visit, word: str) -> str:
    """The path of the page; an unknown word becomes a search among the systems."""
    for action, route, name, page in KINDS:
        if word and visit.may(action) and await _is_known(visit, route, name, word):
            return f"{page}{quote(word, safe='')}"
    return f"/systems?t={quote(word if any(mark in word for mark in '*@ ') else f'*{word}*', safe='')}"


async def _is_known(visit: Visit, route: str, name: str, word: str) -> bool:
    try:
        await visit.ask.get(route, **{name: word})
    except SalternError as problem:
        if status_of(problem) in (400, 403, 404, 422):
            return False
        raise
    return True
