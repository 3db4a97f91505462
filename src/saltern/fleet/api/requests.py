"""From the bytes of a request to the structs of its route, within limits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request

from saltern.fleet.api.problems import ApiError
from saltern.fleet.protocol.codec import MAX_DEPTH, BadMessage, check_depth
from saltern.language.diagnostics import Diagnostic, did_you_mean

MAX_BODY = 1024 * 1024
DISCARDED = 16 * MAX_BODY  # read and discarded, so that a client that is still sending gets the answer
BODY_TIME = 30.0  # seconds in which a body must arrive


def read_query(request: Request, shape: type[Struct]) -> Struct:
    """The parameters after the question mark, as a struct."""
    given = dict(request.query_params)
    check_names(given, shape)
    try:
        return msgspec.convert(given, shape, strict=False)
    except msgspec.ValidationError as problem:
        raise ApiError(
            400,
            Diagnostic(
                code="api-bad-parameter",
                what=f"a parameter of the request is wrong: {problem}",
                fix=f"this route takes: {', '.join(shape.__struct_fields__)}; see /v1/openapi.json",
            ),
        ) from None


def check_names(given: Mapping[str, str], shape: type[Struct]) -> None:
    for name in given:
        if name not in shape.__struct_fields__:
            known = ", ".join(shape.__struct_fields__) or "none"
            fix = did_you_mean(name, shape.__struct_fields__) or f"this route takes: {known}"
            what = f"no parameter of this route is called {name[:40]!r}"
            raise ApiError(400, Diagnostic(code="api-bad-parameter", what=what, fix=fix))


def check_path(path: Mapping[str, str]) -> None:
    """Refuse names that no system, job or group can have."""
    for name, value in path.items():
        if "\0" in value or len(value) > 512:
            what = f"the {name} in the path is not a name"
            fix = "names are at most 512 characters long and have no control characters"
            raise ApiError(400, Diagnostic(code="api-bad-path", what=what, fix=fix))


def decode_body(request: Request, data: bytes, shape: type[Struct]) -> Any:
    """The body of a request, as a struct. A missing body is like an empty object."""
    _check_type(request, data)
    try:
        check_depth(data)
        return _decoder(shape).decode(data or b"{}")
    except BadMessage:
        what = f"the body is nested deeper than {MAX_DEPTH} levels"
        raise ApiError(
            400, Diagnostic(code="api-bad-body", what=what, fix="send what the route takes")
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as problem:
        raise ApiError(
            400,
            Diagnostic(
                code="api-bad-body",
                what=f"the body of the request is wrong: {str(problem)[:300]}",
                fix=f"send a JSON object with: {', '.join(shape.__struct_fields__)}; see /v1/openapi.json",
            ),
        ) from None


@cache
def _decoder(shape: type[Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape)


async def read_bytes(request: Request) -> bytes:
    """The body of a request, if it is not too long and comes in time."""
    data = bytearray()
    size = 0
    try:
        async with asyncio.timeout(BODY_TIME):
            async for part in request.stream():
                size += len(part)
                if size > DISCARDED:
                    break
                data += part if size <= MAX_BODY else b""
    except (TimeoutError, ClientDisconnect):
        what = f"the body of the request did not arrive within {BODY_TIME:.0f} seconds"
        raise ApiError(
            408, Diagnostic(code="api-body-late", what=what, fix="send it at once"), {"Connection": "close"}
        ) from None
    if size > MAX_BODY:
        raise _too_large()
    return bytes(data)


def _too_large() -> ApiError:
    return ApiError(
        413,
        Diagnostic(
            code="api-body-large",
            what=f"the body of the request is longer than {MAX_BODY} bytes",
            fix="send less: large data belongs in files of the tree, or in pillar",
        ),
        {"Connection": "close"},
    )


def _check_type(request: Request, data: bytes) -> None:
    """Accept only JSON, which a page of another site cannot make a browser send."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given == "application/json" or (not data and not given):
        return
    what = (
        f"the body of the request is {given!r}, and this route takes JSON"
        if given
        else "the body has no type"
    )
    raise ApiError(
        415, Diagnostic(code="api-body-type", what=what, fix="send 'Content-Type: application/json'")
    )
