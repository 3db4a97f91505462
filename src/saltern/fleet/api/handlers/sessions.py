"""Log in and out, and manage your own password and API tokens."""

from __future__ import annotations

from typing import Any

from msgspec import convert

from saltern.fleet.api.access_shapes import (
    ApiTokenAnswer,
    ApiTokenBody,
    ApiTokenMade,
    LinkBody,
    LinkMade,
    LoginAnswer,
    LoginBody,
    LoginWays,
    OidcBegin,
    OidcBegun,
    OidcFinish,
    OwnPasswordBody,
)
from saltern.fleet.api.call import Call
from saltern.fleet.api.pages import Page, PageQuery, cut_page
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.shapes import NoBody
from saltern.fleet.store.credentials import credentials


async def login(call: Call[NoQuery, LoginBody]) -> LoginAnswer:
    """Log in with a name and a password."""
    ask, logins = call.body, call.desk.access.logins
    made = await call.ask(
        logins.with_password, ask.name, ask.password, call.peer, call.desk.now(), way=ask.way
    )
    return LoginAnswer(token=made.secret, name=made.name, expires=made.expires, failures=made.failures)


async def list_ways(call: Call[NoQuery, None]) -> LoginWays:
    """The ways to log in."""
    login = (await call.ask(call.desk.access.policies.current)).login
    return LoginWays(ways=[name for name in ("local", "pam", "oidc") if getattr(login, name)])


async def begin_oidc(call: Call[NoQuery, OidcBegin]) -> OidcBegun:
    """Begin a login at the OpenID Connect provider: authorization code with PKCE."""
    ask = call.body
    begun = await call.ask(call.desk.access.oidc.begin, ask.redirect, ask.challenge, call.desk.now())
    return OidcBegun(address=begun.address, state=begun.state)


async def finish_oidc(call: Call[NoQuery, OidcFinish]) -> LoginAnswer:
    """Finish the login with the code that came back; each code works once."""
    ask, oidc = call.body, call.desk.access.oidc
    made = await call.ask(oidc.finish, ask.state, ask.code, ask.verifier, call.desk.now(), issuer=ask.issuer)
    return LoginAnswer(token=made.secret, name=made.name, expires=made.expires, failures=made.failures)


async def make_link(call: Call[NoQuery, NoBody]) -> LinkMade:
    """Make a short-lived code for one sign-in in a browser: only for root on the controller's socket."""
    made = await call.ask(call.desk.access.links.make, call.who, call.desk.now())
    path = f"{call.desk.prefix}/sign-in/link"
    return LinkMade(code=made.code, expires=made.expires, url=call.desk.url, path=path)


async def finish_link(call: Call[NoQuery, LinkBody]) -> LoginAnswer:
    """Begin a session with the code of a link; each code works once."""
    made = await call.ask(call.desk.access.links.finish, call.body.code, call.desk.now())
    return LoginAnswer(token=made.secret, name=made.name, expires=made.expires, failures=0)


async def logout(call: Call[NoQuery, NoBody]) -> None:
    """End the session that is used for this request."""
    await call.ask(call.desk.access.sessions.end, call.who, call.desk.now())


async def change_password(call: Call[NoQuery, OwnPasswordBody]) -> None:
    """Change your own password; all other sessions end."""
    accounts, ask = call.desk.access.accounts, call.body
    await call.ask(accounts.change_own_password, call.who, ask.old, ask.new, call.desk.now())


async def list_own_tokens(call: Call[PageQuery, None]) -> Page[ApiTokenAnswer]:
    """Your own sessions and API tokens."""
    return await tokens_of(call, call.who.name)


async def make_own_token(call: Call[NoQuery, ApiTokenBody]) -> ApiTokenMade:
    """Make an API token. It is shown only now."""
    return await make_token_for(call, "")


async def remove_own_token(call: Call[NoQuery, None]) -> None:
    """Remove one of your own sessions or API tokens, by its id."""
    accounts = call.desk.access.accounts
    await call.ask(
        accounts.remove_token, call.who, call.path["token"], call.desk.now(), operator=call.who.name
    )


async def tokens_of(call: Call[PageQuery, None], operator: str) -> Page[ApiTokenAnswer]:
    rows = await call.read(credentials, operator=operator)
    found = [convert(row, ApiTokenAnswer, from_attributes=True) for row in rows]
    return cut_page(found, call.query, lambda one: one.id)


async def make_token_for(call: Call[Any, ApiTokenBody], operator: str) -> ApiTokenMade:
    ask = call.body
    made, secret = await call.ask(
        call.desk.access.accounts.make_token,
        call.who,
        call.desk.now(),
        operator=operator,
        label=ask.label,
        scopes=None if ask.scopes is None else tuple(ask.scopes),
        life=ask.life,
    )
    return ApiTokenMade(id=made.id, token=secret, expires=made.expires)
