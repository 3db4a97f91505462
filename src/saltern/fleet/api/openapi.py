"""The OpenAPI document of the table of routes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from saltern import __version__
from saltern.fleet.api.problems import Problem
from saltern.fleet.api.route import Route
from saltern.fleet.protocol.notices import AnyNotice

REF = "#/components/schemas/{name}"
PROBLEMS = {
    "400": "the request is wrong",
    "401": "the controller does not know who sent the request",
    "403": "it is not allowed",
    "404": "there is no such thing",
    "409": "the current state does not allow it",
    "413": "the body is too large",
    "422": "what the request names is wrong",
    "503": "a part of the controller cannot work now",
}
_PARAMETER = re.compile(r"{(\w+)}")


def openapi(routes: Sequence[Route], prefix: str = "") -> dict[str, Any]:
    """The OpenAPI 3.1 document."""
    shapes = [one for route in routes for one in (route.answer, route.body) if one is not None]
    _, components = msgspec.json.schema_components([*shapes, Problem, AnyNotice], ref_template=REF)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "saltern controller", "version": __version__},
        "servers": [{"url": prefix or "/"}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.about,
        "tags": [route.path.split("/")[2] if route.path.startswith("/v1/") else "controller"],
        "parameters": [*_path_parameters(route.path), *_query_parameters(route.query)],
        "responses": {str(route.status): _answer(route), **_problems()},
        "security": [] if route.action is None else [{"token": []}],
    }
    if route.body is not None:
        made["requestBody"] = {"content": {"application/json": {"schema": _reference(route.body)}}}
    return made


def _answer(route: Route) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if route.answer is not None:
        content["application/json"] = {"schema": _reference(route.answer)}
    if route.streams:
        content["text/event-stream"] = {"schema": _reference(AnyNotice)}
    return {"description": "done", "content": content} if content else {"description": "done"}


def _problems() -> dict[str, Any]:
    content = {"application/json": {"schema": _reference(Problem)}}
    return {status: {"description": text, "content": content} for status, text in PROBLEMS.items()}


def _reference(shape: Any) -> dict[str, Any]:
    (reference,), _ = msgspec.json.schema_components([shape], ref_template=REF)
    return reference


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(path)
    ]


def _query_parameters(shape: type[Struct]) -> list[dict[str, Any]]:
    schema = msgspec.json.schema(shape)
    properties = next(iter(schema["$defs"].values())).get("properties", {})
    required = next(iter(schema["$defs"].values())).get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": one}
        for name, one in properties.items()
    ]
