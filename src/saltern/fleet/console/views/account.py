"""The visitor's own account: identity, sessions, API tokens, password."""

from __future__ import annotations

from saltern.fleet.console.forms import number_of
from saltern.fleet.console.row import Act, Data, Form, Visit

DAY = 86_400.0


async def gather(visit: Visit) -> Data:
    rows = await visit.ask.every("/v1/me/tokens")
    return {"credentials": sorted(rows, key=lambda one: -one["made_at"])}


def _token(form: Form) -> Data:
    scopes = form.text("scopes").replace(",", " ").split()
    days = number_of(form.text("days") or "90")
    life = days * DAY if isinstance(days, float) else days
    return {"label": form.text("label"), "scopes": scopes or None, "life": life}


ACCOUNT_ACTS = (
    Act(
        path="/account/password",
        method="POST",
        route="/v1/me/password",
        body=lambda form: {"old": form.raw("old"), "new": form.raw("new")},
        then="/account",
        did="The password is changed, and all other sessions are ended",
    ),
    Act(
        path="/account/tokens",
        method="POST",
        route="/v1/me/tokens",
        body=_token,
        shows="token.html",
    ),
    Act(
        path="/account/tokens/{token}/remove",
        method="DELETE",
        route="/v1/me/tokens/{token}",
        then="/account",
        did="It is removed, and is refused from now on",
    ),
)
