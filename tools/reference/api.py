"""The page of the HTTP API, from its table of routes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from saltern.fleet.access.ports import ACTIONS
from saltern.fleet.api.openapi import openapi
from saltern.fleet.api.problems import STATUSES
from saltern.fleet.api.route import Route
from saltern.fleet.api.table import ROUTES
from tools.reference.markdown import code, page, prose, shown, table

SIMPLE = {
    "string": "text",
    "integer": "number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
}


def api() -> str:
    schemas: dict[str, Any] = openapi(ROUTES)["components"]["schemas"]
    return page(
        "HTTP API",
        "The requests that a controller accepts, as JSON over HTTP. The controller serves the same "
        "description as OpenAPI 3.1 at `/v1/openapi.json`. [How to use it](../guides/api.md).",
        table(("request", "action", "what it does"), map(_listed, ROUTES)),
        "The action is the one that [a policy](../guides/api.md#who-asks) must allow. Every GET has a HEAD.",
        "## Requests",
        *map(_route, ROUTES),
        "## Answers",
        *(_shape(name, schema) for name, schema in sorted(schemas.items()) if "properties" in schema),
        "## Statuses of problems",
        "The status is determined by the code of a [problem](errors.md).",
        table(("code", "status"), [(code(name), str(status)) for name, status in STATUSES.items()]),
    )


def _listed(route: Route) -> tuple[str, str, str]:
    link = f"[`{route.method} {route.path}`](#{_anchor(route)})"
    return link, code(route.action or ""), prose(route.about)


def _anchor(route: Route) -> str:
    return re.sub(r"[^a-z0-9 _-]", "", _title(route).lower()).replace(" ", "-")


def _title(route: Route) -> str:
    return f"{route.method} {route.path}"


def _route(route: Route) -> str:
    parts = [f"### {_title(route)}", prose(route.about), _action(route.action)]
    for title, shape in (("parameter", route.query), ("field of the body", route.body)):
        if shape is not None:
            parts += _field_table(title, _schema(shape))
    return "\n\n".join([*parts, f"Answer: {_answer(route)}."])


def _action(action: str | None) -> str:
    return f"Needs the action `{action}`: {ACTIONS[action].what}." if action else "Needs no token."


def _answer(route: Route) -> str:
    made = [f"{route.status}"]
    if route.answer is not None:
        made.append(_type(msgspec.json.schema(route.answer)))
    if route.streams:
        made.append("or server-sent events" if route.answer else "server-sent events")
    return ", ".join(made)


def _schema(shape: Any) -> dict[str, Any]:
    found = msgspec.json.schema(shape)
    made: dict[str, Any] = found["$defs"][found["$ref"].rpartition("/")[2]] if "$ref" in found else found
    return made


def _shape(name: str, schema: dict[str, Any]) -> str:
    about = prose(" ".join(schema.get("description", "").split()))
    head = f"### {schema.get('title', name)}\n\n{about}"
    return "\n\n".join([head, *_field_table("field", schema)])


def _field_table(title: str, schema: dict[str, Any]) -> list[str]:
    """Its fields; empty columns are left out."""
    rows = [(title, "type", "default", "what it is"), *_fields(schema)]
    if len(rows) == 1:
        return []
    kept = [number for number in range(4) if any(row[number] for row in rows[1:])]
    head, *rest = [[row[number] for number in kept] for row in rows]
    return [table(head, rest)]


def _fields(schema: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    required = schema.get("required", [])
    for name, one in schema.get("properties", {}).items():
        default = "" if name in required or "default" not in one else shown(one["default"])
        yield code(name), _type(one), default, prose(one.get("description", ""))


def _type(schema: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        page_of = re.fullmatch(r"Page_(\w+)_", name)
        return f"page of [{page_of[1]}](#{page_of[1].lower()})" if page_of else f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_type, schema["anyOf"])))
    if "enum" in schema:
        return ", ".join(code(one) if one else "empty" for one in schema["enum"])
    if "const" in schema:
        return code(schema["const"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return SIMPLE.get(
        schema.get("type", ""), "mapping" if schema.get("type") == "object" else "any"
    ) + _range(schema)


def _range(schema: dict[str, Any]) -> str:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum")
    return f", {low} to {high}" if low is not None and high is not None and high < 2**40 else ""
