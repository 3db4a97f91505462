"""Sign in and out: with a password, at a provider, or with a link made by root on the controller."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Coroutine
from secrets import token_urlsafe
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from saltern.fleet.api.call import Desk
from saltern.fleet.api.problems import Problem, answer_of
from saltern.fleet.console.ask import Ask
from saltern.fleet.console.csrf import FIELD, check_form, token_for
from saltern.fleet.console.forms import read_fields
from saltern.fleet.console.render import render
from saltern.fleet.console.session import (
    FORM,
    FORM_LIFE,
    LOGIN,
    NAME,
    clear_cookie,
    read_cookie,
    secret_of,
    set_cookie,
)
from saltern.language.diagnostics import Diagnostic, OperationError, SalternError

Door = Callable[[Request], Coroutine[Any, Any, Response]]
BACK = "/sign-in/back"
LOGIN_LIFE = 600
MOST_FIELDS = 20


def doors(desk: Desk) -> list[tuple[str, list[str], Door]]:
    """The routes of the sign-in: path, methods and handler."""
    made = Doors(desk)
    return [
        ("/sign-in", ["GET"], made.show),
        ("/sign-in", ["POST"], made.with_password),
        ("/sign-in/provider", ["GET"], made.to_provider),
        (BACK, ["GET"], made.from_provider),
        ("/sign-in/link", ["GET"], made.show_link),
        ("/sign-in/link", ["POST"], made.with_link),
        ("/sign-out", ["POST"], made.sign_out),
    ]


class Attempt(msgspec.Struct):
    """A sign-in at a provider, kept by the browser that began it."""

    state: str
    verifier: str
    next: str


class Doors:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def show(self, request: Request) -> Response:
        return await self._form(request)

    async def with_password(self, request: Request) -> Response:
        fields = await self._check_form(request)
        body = {name: fields.get(name, "") for name in ("name", "password")}
        way = "pam" if fields.get("way") == "pam" else "local"
        try:
            made = await self._ask(request).send("POST", "/v1/login", {**body, "way": way})
        except SalternError as problem:
            status, found = answer_of(problem)
            return await self._form(request, status=status, problem=found, given=fields)
        return await self._enter(request, made, fields.get("next", ""))

    async def to_provider(self, request: Request) -> Response:
        """Begin at the provider. The verifier stays in this browser: a code alone is useless."""
        verifier = token_urlsafe(64)
        challenge = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        begun = await self._ask(request).send(
            "POST", "/v1/login/oidc", {"redirect": own_address(request) + BACK, "challenge": challenge}
        )
        attempt = Attempt(begun["state"], verifier, safe_next(request.query_params.get("next", "")))
        response = RedirectResponse(begun["address"], 303)
        packed = urlsafe_b64encode(msgspec.json.encode(attempt)).decode()
        set_cookie(response, request, LOGIN, packed, LOGIN_LIFE)
        return response

    async def from_provider(self, request: Request) -> Response:
        given = request.query_params
        attempt = _attempt(read_cookie(request, LOGIN))
        if attempt is None or given.get("state") != attempt.state or not given.get("code"):
            what = f"the provider answers {given.get('error', 'without a code')[:100]!r}"
            what = what if attempt else "this sign-in did not begin in this browser, or took too long"
            raise OperationError(
                Diagnostic(code="login-refused", what=what, fix="begin again at the sign-in")
            )
        body = {"state": attempt.state, "code": given["code"], "verifier": attempt.verifier}
        made = await self._ask(request).send(
            "POST", "/v1/login/oidc/finish", {**body, "issuer": given.get("iss", "")}
        )
        response = await self._enter(request, made, attempt.next)
        clear_cookie(response, request, LOGIN)
        return response

    async def show_link(self, request: Request) -> Response:
        """A page with a button: merely fetching the address does not use up the link."""
        return await self._form(request, code=request.query_params.get("code", "")[:200])

    async def with_link(self, request: Request) -> Response:
        fields = await self._check_form(request)
        made = await self._ask(request).send(
            "POST", "/v1/login/link/finish", {"code": fields.get("code", "")}
        )
        return await self._enter(request, made, fields.get("next", ""))

    async def sign_out(self, request: Request) -> Response:
        fields = await read_fields(request, MOST_FIELDS)
        secret = secret_of(request)
        check_form(request, secret, fields.get(FIELD, [""])[-1])
        await self._end(request, secret)
        response = RedirectResponse(f"{request.scope.get('root_path', '')}/sign-in", 303)
        clear_cookie(response, request, NAME)
        response.headers["Clear-Site-Data"] = '"storage"'
        return response

    async def _form(
        self,
        request: Request,
        *,
        status: int = 200,
        problem: Problem | None = None,
        given: dict[str, str] | None = None,
        code: str = "",
    ) -> Response:
        key = read_cookie(request, FORM) or token_urlsafe(24)
        ways = (await self._ask(request).get("/v1/login"))["ways"]
        values = given or {}
        data = {
            "root": request.scope.get("root_path", ""),
            "ways": ways,
            "csrf": token_for(key),
            "problem": problem,
            "name": values.get("name", ""),
            "next": safe_next(values.get("next", request.query_params.get("next", ""))),
            "code": code,
            "now": self._desk.now(),
        }
        response = HTMLResponse(render("sign_in.html", data), status)
        set_cookie(response, request, FORM, key, FORM_LIFE)
        return response

    async def _check_form(self, request: Request) -> dict[str, str]:
        fields = {name: values[-1] for name, values in (await read_fields(request, MOST_FIELDS)).items()}
        check_form(request, read_cookie(request, FORM), fields.get(FIELD, ""))
        return fields

    async def _enter(self, request: Request, made: dict[str, Any], wanted: str) -> Response:
        """Begin a new session, and end the one that the browser had."""
        await self._end(request, secret_of(request))
        response = RedirectResponse(request.scope.get("root_path", "") + (safe_next(wanted) or "/"), 303)
        set_cookie(response, request, NAME, made["token"], made["expires"] - self._desk.now())
        clear_cookie(response, request, FORM)
        return response

    async def _end(self, request: Request, secret: str) -> None:
        if not secret:
            return
        try:
            await self._ask(request, secret).send("POST", "/v1/logout", {})
        except SalternError:
            pass  # it had already ended

    def _ask(self, request: Request, secret: str = "") -> Ask:
        client = (request.client.host, request.client.port) if request.client else None
        return Ask(self._desk, secret, client=client, id=request.scope["saltern_id"])


def safe_next(path: str) -> str:
    """The path of a page of the console; empty for anything that could lead elsewhere."""
    inside = path.startswith("/") and not path.startswith("//") and "\\" not in path
    return path if inside and path.isprintable() and len(path) < 2000 else ""


def own_address(request: Request) -> str:
    root = request.scope.get("root_path", "")
    return f"{request.url.scheme}://{request.headers.get('host', '')}{quote(root)}"


def _attempt(packed: str) -> Attempt | None:
    try:
        return msgspec.json.decode(urlsafe_b64decode(packed.encode()), type=Attempt)
    except (ValueError, msgspec.DecodeError):
        return None
