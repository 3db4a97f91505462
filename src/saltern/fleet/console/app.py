"""``make_console``: the pages, their actions, the sign-in and the stream as one application."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from secrets import token_urlsafe
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route as HttpRoute
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from saltern.fleet.api.call import Desk
from saltern.fleet.api.problems import ApiError, Problem, answer_of
from saltern.fleet.bus.ports import BusError
from saltern.fleet.console import act as acts
from saltern.fleet.console import sign_in
from saltern.fleet.console.ask import Ask
from saltern.fleet.console.assets import serve_asset
from saltern.fleet.console.audit_watch import AuditWatch
from saltern.fleet.console.csrf import FIELD, HEADER, check_form, token_for
from saltern.fleet.console.downloads import DOWNLOADS, Download
from saltern.fleet.console.forms import read_fields
from saltern.fleet.console.headers import SafeSend
from saltern.fleet.console.pages import MENU, PAGES
from saltern.fleet.console.parts import page_parts
from saltern.fleet.console.polls import Polls
from saltern.fleet.console.render import render
from saltern.fleet.console.report import show_report
from saltern.fleet.console.row import Act, Data, Form, Page, Visit
from saltern.fleet.console.session import secret_of
from saltern.fleet.console.stream import Streams
from saltern.fleet.console.views.go import place_of
from saltern.language.diagnostics import Diagnostic, SalternError

LOG = logging.getLogger("saltern.fleet.console")
Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]
MOST_FIELDS = 2000
NAMES = {page.name: page for page in reversed(PAGES)}


def make_console(desk: Desk, name: str = "") -> ASGIApp:
    """The application for all paths that are not the API's. ``name`` is the controller's."""
    site = Site(desk, name)
    routes = [HttpRoute(page.path, site.page(page), methods=["GET"]) for page in PAGES]
    routes += [HttpRoute(one.path, site.act(one), methods=["POST"]) for one in acts.ACTS]
    routes += [HttpRoute(one.path, site.download(one), methods=["GET"]) for one in DOWNLOADS]
    routes += [HttpRoute(path, door, methods=methods) for path, methods, door in sign_in.doors(desk)]
    routes += [
        HttpRoute("/static/{file}", serve_asset, methods=["GET"]),
        HttpRoute("/stream", site.streams.answer, methods=["GET"]),
        HttpRoute("/parts", Polls(site.streams).answer, methods=["GET"]),
        HttpRoute("/go", site.go, methods=["GET"]),
        HttpRoute("/jobs/{jid}/{system}/report", site.report, methods=["GET"]),
    ]
    return Shell(Router(routes, redirect_slashes=False, default=_nothing_here), site)


async def _behind(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
    raise HTTPException(404)


class Shell:
    """Wraps every page: safe headers, and an error page for any failure."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        safe = SafeSend(send)
        try:
            await self._app(scope, receive, safe)
        except Exception as problem:
            if safe.begun:
                raise
            answer = await self._site.problem(Request(scope, receive), problem)
            await answer(scope, receive, safe)


class Site:
    """What all pages share."""

    def __init__(self, desk: Desk, name: str) -> None:
        self.desk = desk
        self.name = name
        self.streams = Streams(desk)
        self.audit = AuditWatch(desk)

    def page(self, page: Page) -> Endpoint:
        async def answer(request: Request, visit: Visit) -> Response:
            check_may(visit, page.action)
            data = await page.gather(visit)
            if "verified" in data:
                self.audit.note(data["verified"]["problem"])
            data |= await page_parts(page, visit, data)
            text = render(page.template, self.frame(request, visit, page) | data)
            return HTMLResponse(text, media_type=page.media)

        return self._signed_in(answer)

    def act(self, one: Act) -> Endpoint:
        async def answer(request: Request) -> Response:
            secret = secret_of(request)
            form, given = await read_form(request)
            check_form(request, secret, given)
            done = await acts.perform(one, self.ask(request, secret), form)
            if one.shows:
                return await self.show_answer(request, one, form, done)
            return redirect(request, fill_path(one.then, form, done), did=one.did)

        return answer

    async def show_answer(self, request: Request, one: Act, form: Form, done: Any) -> Response:
        """The answer of an action as a page: it is shown only once."""
        visit = await self.visit(request)
        assert visit is not None
        data = await one.more(visit.ask, form, done) if one.more else {"answer": done}
        page = NAMES.get(one.here)
        return HTMLResponse(render(one.shows, self.frame(request, visit, page) | data))

    def download(self, one: Download) -> Endpoint:
        async def answer(_: Request, visit: Visit) -> Response:
            check_may(visit, one.action)
            pieces = one.pieces(visit)
            first = await anext(pieces, b"")  # a mistake in the query is shown on the page itself
            headers = {"Content-Disposition": f'attachment; filename="{one.file}"'}
            return StreamingResponse(_behind(first, pieces), headers=headers, media_type=one.media)

        return self._signed_in(answer)

    def _signed_in(self, answer: Callable[[Request, Visit], Coroutine[Any, Any, Response]]) -> Endpoint:
        """An endpoint for visitors who have signed in; others are sent to do that."""

        async def answer_visitor(request: Request) -> Response:
            visit = await self.visit(request)
            return to_sign_in(request) if visit is None else await answer(request, visit)

        return answer_visitor

    async def go(self, request: Request) -> Response:
        """Redirect to the page that a word names."""
        visit = await self.visit(request)
        if visit is None:
            return to_sign_in(request)
        word = request.query_params.get("to", "").strip()[:512]
        return redirect(request, await place_of(visit, word) if word else "/")

    async def report(self, request: Request) -> Response:
        """The report of a job on one system, unchanged."""
        visit = await self.visit(request)
        if visit is None:
            return to_sign_in(request)
        check_may(visit, "jobs.read")
        return await show_report(visit)

    def ask(self, request: Request, secret: str) -> Ask:
        client = (request.client.host, request.client.port) if request.client else None
        return Ask(self.desk, secret, client=client, id=request.scope["saltern_id"])

    async def visit(self, request: Request) -> Visit | None:
        """The visitor; None: they must sign in."""
        secret = secret_of(request)
        if not secret:
            return None
        ask = self.ask(request, secret)
        try:
            me = await ask.get("/v1/me")
        except ApiError as problem:
            if problem.status == 401:
                return None
            raise
        request.scope["saltern_who"] = me["name"]
        return Visit(
            ask=ask,
            me=me,
            path={name: str(value) for name, value in request.path_params.items()},
            query=request.query_params,
            now=self.desk.now(),
            root=request.scope.get("root_path", ""),
        )

    def frame(self, request: Request, visit: Visit, page: Page | None) -> Data:
        """What every template can use."""
        here = (page.here or page.name) if page else ""
        menu = [
            (name, visit.root + NAMES[name].path)
            for name in MENU
            if name in NAMES and visit.may(NAMES[name].action)
        ]
        return {
            "root": visit.root,
            "me": visit.me,
            "may": visit.may,
            "now": visit.now,
            "path": visit.path,
            "query": visit.query,
            "here": here,
            "menu": menu,
            "csrf": token_for(secret_of(request)),
            "client_token": lambda: token_urlsafe(18),
            "fleet": self.name,
            "url": str(request.url.path),
            "topics": [],
            "after": 0,
            "parts": {},
            "did": did_text(request),
            "broken_audit": self.audit.current_problem(),
        }

    async def problem(self, request: Request, problem: Exception) -> Response:
        """An error with its reason and its fix: as a page, or as a part of the form that was sent."""
        status, found = problem_answer(problem, request)
        data = {"problem": found, "http_status": status, "root": request.scope.get("root_path", "")}
        if request.headers.get("hx-request"):
            return HTMLResponse(render("problem_part.html", data), status)
        visit = None
        try:
            visit = await self.visit(request)
        except (SalternError, BusError):
            pass
        if visit is None:
            return (
                to_sign_in(request)
                if found.code == "api-not-authenticated"
                else HTMLResponse(render("problem_plain.html", data), status)
            )
        return HTMLResponse(render("problem.html", self.frame(request, visit, None) | data), status)


def problem_answer(problem: Exception, request: Request) -> tuple[int, Problem]:
    if isinstance(problem, SalternError):
        return answer_of(problem)
    if isinstance(problem, HTTPException):
        what = f"there is no page {request.url.path[:200]!r}"
        if problem.status_code == 405:
            what = f"{request.method} is not possible here"
        return problem.status_code, Problem(code="console-no-page", what=what, fix="begin at the overview")
    if not isinstance(problem, BusError):
        id_ = request.scope["saltern_id"]
        LOG.error("request %s failed", id_, exc_info=problem)
        fix = f"look for {id_} in the log of the controller, and report what is found there"
        return 500, Problem(
            code="api-failed", what=f"the controller failed to show the page ({id_})", fix=fix
        )
    what = f"the broker did not carry out the controller's request: {problem}"
    return 503, Problem(
        code="fleet-broker-refused", what=what, fix="try again; see `saltern controller doctor`"
    )


def check_may(visit: Visit, action: str) -> None:
    """Raise unless the visitor may see the page; the API decides again about everything on it."""
    if visit.may(action):
        return
    what = f"{visit.me['name']} may not see this page: it needs the action {action!r}"
    fix = "ask an admin of the fleet for a role that allows it; `saltern policy explain` says which"
    raise ApiError(403, Diagnostic(code="not-allowed", what=what, fix=fix))


async def read_form(request: Request) -> tuple[Form, str]:
    """The fields, and the token against forged requests."""
    lists = await read_fields(request, MOST_FIELDS)
    fields = {name: values[-1] for name, values in lists.items()}
    given = request.headers.get(HEADER) or fields.pop(FIELD, "")
    path = {name: str(value) for name, value in request.path_params.items()}
    return Form(fields=fields, lists=lists, path=path), given


def fill_path(then: str, form: Form, answer: Any) -> str:
    """A path with its placeholders replaced by values from the form's path or the answer."""
    names = {**(answer if isinstance(answer, dict) else {}), **form.path}
    for name, value in names.items():
        then = then.replace(f"{{{name}}}", quote(str(value), safe=""))
    return then


def redirect(request: Request, path: str, *, did: str = "") -> Response:
    """Redirect to another page of the console, for htmx or for a plain browser."""
    root = request.scope.get("root_path", "")
    mark = "&" if "?" in path else "?"
    where = f"{root}{path}" + (f"{mark}did={quote(did)}" if did in DID else "")
    if request.headers.get("hx-request"):
        return Response(status_code=204, headers={"HX-Redirect": where})
    return RedirectResponse(where, 303)


DID = {one.did for one in acts.ACTS}


def did_text(request: Request) -> str:
    """A message about the last action: one of the console's own sentences, never text from the address."""
    given = request.query_params.get("did", "")
    return given if given in DID else ""


def to_sign_in(request: Request) -> Response:
    root = request.scope.get("root_path", "")
    path = request.url.path.removeprefix(root) if root else request.url.path
    query = f"?{request.url.query}" if request.url.query else ""
    wanted = f"{path}{query}" if request.method == "GET" and path != "/" else ""
    where = f"{root}/sign-in" + (f"?next={quote(wanted, safe='')}" if wanted else "")
    if request.headers.get("hx-request"):
        return Response(status_code=204, headers={"HX-Redirect": where})
    return RedirectResponse(where, 303)
