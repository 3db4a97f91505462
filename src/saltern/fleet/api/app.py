"""``make_app``: the ASGI application of the routes in the table."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, cast

import msgspec
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as HttpRoute
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from saltern.fleet.access.ports import ACTIONS, Authority, Decision, Peer, Principal
from saltern.fleet.access.ports import Request as Permission
from saltern.fleet.api.call import Call, Desk
from saltern.fleet.api.openapi import openapi
from saltern.fleet.api.ports import Fleet
from saltern.fleet.api.problems import ApiError, denied
from saltern.fleet.api.requests import check_path, read_body, read_query
from saltern.fleet.api.route import Route
from saltern.fleet.api.table import ROUTES
from saltern.fleet.api.wrapper import Wrapper, json_response
from saltern.language.diagnostics import Diagnostic

Endpoint = Callable[[Request], Coroutine[Any, Any, Any]]
ANYONE = Principal(name="", via="none")


def make_app(
    fleet: Fleet, access: Authority, *, prefix: str = "", routes: Sequence[Route] = ROUTES
) -> Wrapper:
    """The application. ``prefix`` is the path below which a proxy serves it, such as ``/saltern``."""
    desk = Desk(fleet=fleet, access=access, prefix=prefix.rstrip("/"))
    by_path: dict[str, dict[str, Route]] = defaultdict(dict)
    for route in routes:
        by_path[route.path][route.method] = route
    document = msgspec.json.encode(openapi(routes, desk.prefix))
    paths = [HttpRoute(path, _endpoint(desk, rows), methods=None) for path, rows in by_path.items()]
    paths.append(HttpRoute("/v1/openapi.json", _fixed(document), methods=["GET"]))
    return Wrapper(Router([*map(_all_methods, paths)], redirect_slashes=False, default=_nothing_here), desk)


def _all_methods(route: HttpRoute) -> HttpRoute:
    route.methods = set()  # the endpoint answers them all, so that 405 has our form and names what is allowed
    return route


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
    raise HTTPException(404)


def _fixed(document: bytes) -> Endpoint:
    async def answer(_request: Request) -> Response:
        return Response(document, media_type="application/json")

    return answer


def _endpoint(desk: Desk, rows: Mapping[str, Route]) -> Endpoint:
    async def answer(request: Request) -> ASGIApp:
        method = "GET" if request.method == "HEAD" else request.method
        if method not in rows:
            raise _no_method(request.method, rows)
        return await _answer(desk, rows[method], request)

    return answer


def _no_method(method: str, rows: Mapping[str, Route]) -> ApiError:
    allowed = sorted({*rows, *(("HEAD",) if "GET" in rows else ())})
    what = f"{method} is not possible here"
    fix = f"use {' or '.join(allowed)}"
    return ApiError(405, Diagnostic(code="api-bad-method", what=what, fix=fix), {"Allow": ", ".join(allowed)})


async def _answer(desk: Desk, route: Route, request: Request) -> ASGIApp:
    """Who asks, may they, is the request right; then the handler."""
    who = await _principal(desk, route, request)
    path = {name: str(value) for name, value in request.path_params.items()}
    check_path(path)
    query = read_query(request, route.query)
    body = await read_body(request, route.body) if route.body is not None else None
    call: Call[Any, Any] = Call(
        desk=desk,
        who=who,
        path=path,
        query=query,
        body=body,
        id=request.scope["saltern_id"],
        headers=request.headers,
        is_allowed=partial(_is_allowed, desk, route, request),
    )
    answer = await route.handler(call)
    return json_response(route.status, answer) if isinstance(answer, Struct) else cast(ASGIApp, answer)


async def _principal(desk: Desk, route: Route, request: Request) -> Principal:
    """Who asks, if they may."""
    if route.action is None:
        return ANYONE
    peer: Peer = getattr(request.state, "peer", None) or _address(request)
    who, decision = await asyncio.to_thread(_decided, desk, route.action, request.headers, peer)
    if who is None:
        raise _not_authenticated()
    request.scope["saltern_who"] = who.name
    if decision is not None and not decision.allowed:
        raise denied(who, route.action, decision)
    return who


async def _is_allowed(desk: Desk, route: Route, request: Request) -> bool:
    """Whether it would still be allowed: for answers that last longer than a session or a token."""
    try:
        await _principal(desk, route, request)
    except ApiError:
        return False
    return True


def _address(request: Request) -> Peer:
    return Peer(address=request.client.host if request.client else "")


def _decided(
    desk: Desk, action: str, headers: Mapping[str, str], peer: Peer
) -> tuple[Principal | None, Decision | None]:
    now = desk.now()
    who = desk.access.authenticate(headers, peer, now)
    if who is None or ACTIONS[action].by_rules:
        return who, None  # what depends on function and systems is decided by the handler
    return who, desk.access.decide(who, Permission(action=action), _no_match, now)


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
