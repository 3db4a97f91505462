"""``make_app``: the ASGI application of the routes in the table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as HttpRoute

from saltern.fleet.api.call import Call, Desk
from saltern.fleet.api.openapi import openapi
from saltern.fleet.api.ports import Access, Fleet, Peer, Principal
from saltern.fleet.api.problems import ApiError
from saltern.fleet.api.requests import check_path, read_body, read_query
from saltern.fleet.api.route import Route
from saltern.fleet.api.table import ROUTES
from saltern.fleet.api.wrapper import Wrapper, json_response
from saltern.language.diagnostics import Diagnostic

Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]
ANYONE = Principal(name="", via="")


def make_app(fleet: Fleet, access: Access, *, prefix: str = "", routes: Sequence[Route] = ROUTES) -> Wrapper:
    """The application. ``prefix`` is the path below which a proxy serves it, such as ``/saltern``."""
    desk = Desk(fleet=fleet, access=access, prefix=prefix.rstrip("/"))
    by_path: dict[str, dict[str, Route]] = defaultdict(dict)
    for route in routes:
        by_path[route.path][route.method] = route
    document = msgspec.json.encode(openapi(routes, desk.prefix))
    paths = [HttpRoute(path, _endpoint(desk, rows), methods=None) for path, rows in by_path.items()]
    paths.append(HttpRoute("/v1/openapi.json", _fixed(document), methods=["GET"]))
    return Wrapper(Starlette(routes=[*map(_all_methods, paths)]), desk)


def _all_methods(route: HttpRoute) -> HttpRoute:
    route.methods = set()  # the endpoint answers them all, so that 405 has our form and names what is allowed
    return route


def _fixed(document: bytes) -> Endpoint:
    async def answer(_request: Request) -> Response:
        return Response(document, media_type="application/json")

    return answer


def _endpoint(desk: Desk, rows: Mapping[str, Route]) -> Endpoint:
    async def answer(request: Request) -> Response:
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


async def _answer(desk: Desk, route: Route, request: Request) -> Response:
    """Who asks, may they, is the request right; then the handler."""
    who = await _principal(desk, route, request)
    path = {name: str(value) for name, value in request.path_params.items()}
    check_path(path)
    query = read_query(request, route.query)
    body = await read_body(request, route.body) if route.body is not None else None
    call: Call[Any, Any] = Call(
        desk=desk, who=who, path=path, query=query, body=body, id=request.scope["saltern_id"]
    )
    answer = await route.handler(call)
    return answer if isinstance(answer, Response) else json_response(route.status, answer)


async def _principal(desk: Desk, route: Route, request: Request) -> Principal:
    if route.action is None:
        return ANYONE
    peer: Peer | None = getattr(request.state, "peer", None)
    who = await desk.access.authenticate(request.headers, peer)
    if who is None:
        raise _not_authenticated()
    request.scope["saltern_who"] = who.name
    if route.action:
        decision = await desk.access.decide(who, route.action)
        if not decision.allowed:
            what = f"{who.name} may not do this ({route.action})" + (
                f": {decision.why}" if decision.why else ""
            )
            fix = "ask an admin of the fleet for a role or a rule that allows it"
            raise ApiError(403, Diagnostic(code="api-denied", what=what, fix=fix))
    return who


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
