"""Wraps every request: its id, the path below a proxy, the log line, and an answer for any failure."""

from __future__ import annotations

import logging
import re
import time
from secrets import token_hex
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from saltern.fleet.api.call import Desk
from saltern.fleet.api.problems import ApiError, Problem, answer_of
from saltern.fleet.bus.ports import BusError
from saltern.language.diagnostics import Diagnostic, OperationError, SalternError

LOG = logging.getLogger("saltern.fleet.api")
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}


def json_response(status: int, answer: object, headers: dict[str, str] | None = None) -> Response:
    body = b"" if status == 204 else msgspec.json.encode(answer)
    return Response(body, status, headers, media_type=None if status == 204 else "application/json")


class Wrapper:
    """The application as the server calls it."""

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self.app = app
        self.desk = desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope["saltern_id"] = request_id(scope)
        _enter_prefix(scope, self.desk.prefix)
        sender = Sender(send, scope)
        started = time.monotonic()
        try:
            await self.app(scope, receive, sender)
        except Exception as problem:
            await _answer_problem(problem, scope, receive, sender)
        finally:
            _log(scope, sender.status, time.monotonic() - started)


class Sender:
    """Adds saltern's headers to an answer, and records its status."""

    def __init__(self, send: Send, scope: Scope) -> None:
        self.status = 0
        self._send = send
        self._id: str = scope["saltern_id"]

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = [*message.get("headers", ())]
            known = {bytes(name).lower() for name, _ in given}
            extra = {"X-Request-Id": self._id, **HEADERS}
            pairs = [(name.lower().encode(), value.encode()) for name, value in extra.items()]
            message["headers"] = [*given, *(one for one in pairs if one[0] not in known)]
        await self._send(message)


def request_id(scope: Scope) -> str:
    """The request id from the client if it is valid; else a new one."""
    given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
    return str(given.decode()) if _ID.fullmatch(given) else token_hex(8)


def _enter_prefix(scope: Scope, prefix: str) -> None:
    """Serve below a path, whether the proxy removes it from the request or not."""
    if not prefix:
        return
    path: str = scope["path"]
    inside = path == prefix or path.startswith(f"{prefix}/")
    scope["root_path"] = prefix
    scope["path"] = path if inside else prefix + path


async def _answer_problem(problem: Exception, scope: Scope, receive: Receive, sender: Sender) -> None:
    if sender.status:  # the answer has begun; it can only be broken off
        LOG.exception("request %s broke off", scope["saltern_id"])
        raise problem
    status, body, headers = _problem_answer(problem, scope)
    await json_response(status, body, headers)(scope, receive, sender)


def _problem_answer(problem: Exception, scope: Scope) -> tuple[int, Problem, dict[str, str]]:
    if isinstance(problem, SalternError):
        return *answer_of(problem), problem.headers if isinstance(problem, ApiError) else {}
    if isinstance(problem, BusError):
        LOG.warning("request %s: the broker: %s", scope["saltern_id"], problem)
        return *answer_of(_broker_problem(problem)), {"Retry-After": "5"}
    if isinstance(problem, HTTPException):
        return problem.status_code, _plain(problem, scope), {}
    LOG.error("request %s failed", scope["saltern_id"], exc_info=problem)
    return 500, _failure(scope["saltern_id"]), {}


def _broker_problem(problem: BusError) -> OperationError:
    return OperationError(
        Diagnostic(
            code="fleet-broker-refused",
            what=f"the broker did not carry out the controller's request: {problem}",
            fix="try again; if that does not help, see GET /v1/ready and `saltern controller doctor`",
        )
    )


def _plain(problem: HTTPException, scope: Scope) -> Problem:
    if problem.status_code != 404:
        return Problem(code="api-bad-request", what=str(problem.detail))
    what = f"the controller has nothing at {scope['path'][:200]!r}"
    found = Diagnostic(code="api-no-route", what=what, fix="see /v1/openapi.json for the routes")
    return Problem(code=found.code, what=found.what, fix=found.fix)


def _failure(id_: str) -> Problem:
    found = Diagnostic(
        code="api-failed",
        what=f"the controller failed to answer the request {id_}",
        fix=f"look for {id_} in the log of the controller, and report what is found there",
    )
    return Problem(code=found.code, what=found.what, fix=found.fix)


def _log(scope: Scope, status: int, seconds: float) -> None:
    """Log one line for each request, without queries, headers and bodies: they may hold secrets."""
    values: tuple[Any, ...] = (
        scope["saltern_id"],
        scope["method"],
        scope["path"][:200],
        status,
        seconds * 1000,
        scope.get("saltern_who", "-"),
    )
    LOG.info("%s %s %r %d %.1f ms %s", *values)
