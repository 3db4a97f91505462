"""Handles one request, from authentication to its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any, TypeVar, cast
from urllib.parse import unquote

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from saltern.fleet.access.decide import in_scope
from saltern.fleet.access.local import local_admin
from saltern.fleet.access.ports import ACTIONS, Decision, Peer, Principal
from saltern.fleet.access.ports import Request as Permission
from saltern.fleet.api.call import Call, Desk
from saltern.fleet.api.once import Done, Known, Once, check_token
from saltern.fleet.api.problems import ApiError, denial
from saltern.fleet.api.requests import check_path, decode_body, read_bytes, read_query
from saltern.fleet.api.route import Route
from saltern.fleet.store import audit, job_queries
from saltern.language.diagnostics import Diagnostic

T = TypeVar("T")
ANYONE = Principal(name="", via="none")
JSON = "application/json"
KNOWN = {"Client-Token-Known": "true"}
LONGEST_REASON = 6000  # as it is sent; a character may be nine of them


async def answer_request(
    desk: Desk,
    route: Route,
    request: Request,
    *,
    who: Principal | None = None,
    known: Principal | None = None,
) -> ASGIApp:
    """Authenticate, authorise and check the request; then call the handler.

    ``who``: a caller that is already authorised; only the controller itself sets it. ``known``: a caller who
    was authenticated for this page a moment ago; authorisation still follows.
    """
    who = who or await _principal(desk, route, request, known)
    path = {name: str(value) for name, value in request.path_params.items()}
    check_path(path)
    query = read_query(request, route.query)
    data = await read_bytes(request) if route.method != "GET" else b""
    call: Call[Any, Any] = Call(
        desk=desk,
        who=who,
        path=path,
        query=query,
        body=decode_body(request, data, route.body) if route.body is not None else None,
        id=request.scope["saltern_id"],
        headers=request.headers,
        peer=_peer(request),
        is_allowed=partial(_is_allowed, desk, route, request),
    )
    if route.method == "GET":
        answer = await route.handler(call)
        return _response(_make_done(route, answer)) if isinstance(answer, Struct) else cast(ASGIApp, answer)
    call.request = f"{route.method} {request.url.path}\n".encode() + data
    return await _with_reason(_write(route, call), request.headers.get("reason", ""))


async def _with_reason(work: Awaitable[T], given: str) -> T:
    """The work, with the reason of the header ``Reason`` in what it writes into the audit."""
    reason = audit.Reason(" ".join(unquote(given[:LONGEST_REASON]).split()))
    before = audit.REASON.set(reason)
    try:
        return await work
    finally:
        reason.text = ""  # work that outlives the request does not have this reason
        audit.REASON.reset(before)


async def _write(route: Route, call: Call[Any, Any]) -> ASGIApp:
    """Carry out a write; only once if it has a client token."""
    token = call.client_token
    if route.knows_tokens and token:
        check_token(token)
    if route.knows_tokens or not token or route.action is None:
        answer = await route.handler(call)
        return cast(ASGIApp, answer) if callable(answer) else _response(_make_done(route, answer))

    async def work() -> Done:
        return _make_done(route, await route.handler(call))

    once = Once(call.desk.fleet.database, call.who.name, token, call.request)
    return _response(await once.run(work, call.desk.now()))


def _make_done(route: Route, answer: object) -> Done:
    if isinstance(answer, Known):
        return replace(_make_done(route, answer.answer), known=True)
    return Done(status=route.status, body=b"" if route.status == 204 else msgspec.json.encode(answer))


def _response(done: Done) -> Response:
    kind = None if done.status == 204 else JSON
    return Response(done.body, done.status, KNOWN if done.known else None, media_type=kind)


async def _principal(desk: Desk, route: Route, request: Request, known: Principal | None = None) -> Principal:
    """The person who sent a request. Raises ``ApiError`` if they are unknown or not allowed."""
    if route.action is None:
        return ANYONE
    known = known or _known_at_once(route.action, request)
    if known is None:
        given = (desk, route.action, request.headers, _peer(request))
        who, decision = await asyncio.to_thread(_decide_caller, *given)
    else:
        who, decision = _decide(desk, route.action, known, desk.access.decide_again)
    if decision is not None:
        request.scope["saltern_principal"] = who
    if who is None:
        raise _not_authenticated()
    request.scope["saltern_who"] = who.name
    if decision is not None and not decision.allowed and not await _is_own_job(desk, route, request, who):
        raise denial(who, route.action, decision)
    return who


def _known_at_once(action: str, request: Request) -> Principal | None:
    """The admin of this machine, if the handler decides: then nothing has to be read from the database."""
    if not ACTIONS[action].by_rules or "authorization" in request.headers:
        return None
    return local_admin(request.headers, _peer(request))


async def _is_own_job(desk: Desk, route: Route, request: Request, who: Principal) -> bool:
    """True for a job that this person submitted: a rule may let people without a reading role run jobs."""
    jid = request.path_params.get("jid")
    if not jid or route.action is None or not ACTIONS[route.action].own_jobs:
        return False
    if not in_scope(who.scopes, Permission(action=route.action)):
        return False

    def submitted_by() -> str:
        with desk.fleet.database.read() as connection:
            found = job_queries.job(connection, str(jid))
        return found.user if found is not None else ""

    return await asyncio.to_thread(submitted_by) == who.name


async def _is_allowed(desk: Desk, route: Route, request: Request) -> bool:
    """True if the request is still allowed: for streams that outlive a session or a token."""
    try:
        await _principal(desk, route, request)
    except ApiError:
        return False
    return True


def _peer(request: Request) -> Peer:
    """The user of the UNIX socket, or the address."""
    found: Peer | None = getattr(request.state, "peer", None)
    return found or Peer(address=request.client.host if request.client else "")


def _decide_caller(
    desk: Desk, action: str, headers: Mapping[str, str], peer: Peer
) -> tuple[Principal | None, Decision | None]:
    who = desk.access.authenticate(headers, peer, desk.now())
    return (None, None) if who is None else _decide(desk, action, who, desk.access.decide)


def _decide(
    desk: Desk, action: str, who: Principal, decide: Callable[..., Decision]
) -> tuple[Principal | None, Decision | None]:
    if ACTIONS[action].by_rules:
        return who, None  # the handler decides what depends on function and systems
    return who, decide(who, Permission(action=action), _no_match, desk.now())


def _no_match(target: str, systems: Collection[str]) -> Collection[str]:  # noqa: ARG001
    return ()


def _not_authenticated() -> ApiError:
    return ApiError(
        401,
        Diagnostic(
            code="api-not-authenticated",
            what="the controller does not know who asks",
            fix="run `saltern login`, or send the header 'Authorization: Bearer TOKEN'",
        ),
        {"WWW-Authenticate": 'Bearer realm="saltern"'},
    )
