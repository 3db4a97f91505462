"""``make_app``: the ASGI application of the routes in the table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import msgspec
from starlette._utils import get_route_path
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as HttpRoute
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from saltern.fleet.access.service import Access
from saltern.fleet.api.call import Desk
from saltern.fleet.api.dispatch import answer_request
from saltern.fleet.api.problems import ApiError
from saltern.fleet.api.route import Route
from saltern.fleet.api.table import ROUTES
from saltern.fleet.api.wrapper import Wrapper
from saltern.fleet.controller.service import Fleet
from saltern.language.diagnostics import Diagnostic

Site = Callable[[Desk], ASGIApp]
Endpoint = Callable[[Request], Coroutine[Any, Any, Any]]


def make_app(
    fleet: Fleet, access: Access, *, prefix: str = "", ca: str = "", site: Site | None = None
) -> Wrapper:
    """The application. ``prefix`` is the path below which a proxy serves it, such as ``/saltern``; ``ca`` is
    the certificate (PEM) of the fleet's own CA, if the API's certificate is from it. ``site`` makes the
    application that answers at all paths outside the API.
    """
    desk = Desk(fleet=fleet, access=access, prefix=prefix.rstrip("/"), ca=ca)
    by_path: dict[str, dict[str, Route]] = defaultdict(dict)
    for route in ROUTES:
        by_path[route.path][route.method] = route
    paths = [HttpRoute(path, _endpoint(desk, rows), methods=None) for path, rows in by_path.items()]
    paths.append(HttpRoute("/v1/openapi.json", _document(desk.prefix), methods=["GET"]))
    rest = _beside_api(site(desk)) if site is not None else _nothing_here
    return Wrapper(Router([*map(_all_methods, paths)], redirect_slashes=False, default=rest), desk)


def _all_methods(route: HttpRoute) -> HttpRoute:
    route.methods = set()  # all methods reach the endpoint, so that 405 has the API's form
    return route


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
    raise HTTPException(404)


def _beside_api(site: ASGIApp) -> ASGIApp:
    """Answer paths below the API that are not in its table, in the form of the API."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        path = get_route_path(scope)
        await (_nothing_here if f"{path}/".startswith("/v1/") else site)(scope, receive, send)

    return answer


def _document(prefix: str) -> Endpoint:
    """The description of the API, made on first use: that takes as long as the start itself."""
    made: list[bytes] = []

    async def answer(_request: Request) -> Response:
        if not made:
            from saltern.fleet.api.openapi import openapi

            made.append(msgspec.json.encode(openapi(ROUTES, prefix)))
        return Response(made[0], media_type="application/json")

    return answer


def _endpoint(desk: Desk, rows: Mapping[str, Route]) -> Endpoint:
    async def answer(request: Request) -> ASGIApp:
        method = "GET" if request.method == "HEAD" else request.method
        if method not in rows:
            raise _no_method(request.method, rows)
        return await answer_request(desk, rows[method], request)

    return answer


def _no_method(method: str, rows: Mapping[str, Route]) -> ApiError:
    allowed = sorted({*rows, *(("HEAD",) if "GET" in rows else ())})
    what = f"{method} is not possible here"
    fix = f"use {' or '.join(allowed)}"
    return ApiError(405, Diagnostic(code="api-bad-method", what=what, fix=fix), {"Allow": ", ".join(allowed)})
