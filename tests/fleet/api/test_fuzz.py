"""Whatever is asked: never a failure of the controller, and every answer is what OpenAPI says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fleet.api.asgi import call
from tests.fleet.api.kit import (
    Running,
    add_audit,
    add_chain_plan,
    add_chain_run,
    add_events,
    add_job,
    add_return,
    add_system,
    running_api,
)

from saltern.fleet.api.openapi import openapi
from saltern.fleet.api.problems import Problem
from saltern.fleet.api.route import Route
from saltern.fleet.api.table import ROUTES
from saltern.fleet.callbacks.occurrences import Occurrence
from saltern.fleet.controller.callbacks import notify

NAMES = ("web1", "db1", "1", "2", "joe", "front", "base", "nothing")
words = st.one_of(
    st.sampled_from(
        (
            *NAMES,
            "*",
            "web*",
            "test.ping",
            "state.apply",
            "G@os:Debian",
            "@front",
            "( a",
            "E@[",
            "viewer",
            "0",
            "",
        )
    ),
    st.text(max_size=30),
)
values = st.recursive(
    st.one_of(
        words,
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A fleet that has something of everything."""
    folder: Path = tmp_path_factory.mktemp("fuzz")
    with running_api(folder) as api:
        for id_ in ("web1", "db1"):
            add_system(api.database, id_)
        add_system(api.database, "new1", accept=False)
        add_system(api.database, "kept1")
        add_job(api.database, "kept", ("kept1",))
        add_return(api.database, "kept", "kept1")
        add_chain_run(api.database, "kept", "kept1")
        add_chain_plan(api.database, "kept", "kept1")
        add_job(api.database, "1", ("web1", "db1"))
        add_job(api.database, "2", ("web1",))
        add_return(api.database, "1", "web1")
        add_return(api.database, "2", "web1")
        add_events(api.database, "a", "b")
        add_audit(api.database, 2)
        client = api.client()
        client.trees.publish()
        client.groups.set("front", "web*")
        client.tokens.make()
        client.operators.add("joe", roles=["viewer"])
        client.operators.add("kept", roles=["viewer"])
        client.chains.save("chain: listed\nactions:\n  - {id: a, command: 'true', targets: ['web*']}\n")
        client.schedules.set("nightly", "listed", "30 2 * * *")
        client.subscriptions.set("kept", "mail", "joe@example.org")
        with api.database.write() as connection:
            notify(connection, "kept", [Occurrence(name="run.failed", data={})], 10.0)
        yield api


@st.composite
def requests(draw: st.DrawFn) -> tuple[Route, str, dict[str, str], Any]:
    """A route of the table with some path, query and body."""
    route = draw(st.sampled_from(ROUTES))
    segments = draw(st.lists(st.one_of(st.sampled_from(NAMES), words), min_size=4, max_size=4))
    path = route.path
    for name, value in zip(("system", "jid", "token", "group"), segments, strict=True):
        path = path.replace(f"{{{name}}}", value)
    path = (
        path.replace("{operator}", segments[0])
        .replace("{environment}", segments[2])
        .replace("{approval}", segments[1])
    )
    names = st.one_of(st.sampled_from((*route.query.__struct_fields__, "x")), words)
    query = draw(st.dictionaries(names, st.one_of(words, st.integers(-5, 2000).map(str)), max_size=3))
    fields = route.body.__struct_fields__ if route.body is not None else ()
    body = draw(
        st.one_of(
            st.fixed_dictionaries({}, optional=dict.fromkeys(fields, values)),
            st.fixed_dictionaries(dict.fromkeys(fields, values)),
            values,
        )
    )
    return route, path, query, body


def check_answer(route: Route, status: int, body: bytes) -> None:
    if status >= 400:
        msgspec.json.decode(body, type=Problem, strict=True)
    elif status == 204:
        assert body == b""
    elif route.answer is not None:
        msgspec.json.decode(body, type=route.answer)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(request=requests())
def test_no_request_makes_the_controller_fail(busy: Running, request: tuple[Route, str, Any, Any]) -> None:
    route, path, query, body = request
    found = busy.run(
        call(
            busy.server.app,
            route.method,
            path,
            query=urlencode(query).encode(),
            body=b"" if route.method == "GET" else json.dumps(body).encode(),
            content_type="application/json",
        )
    )
    assert found.status < 500, found.body
    check_answer(route, found.status, found.body) if not found.more else None


@settings(max_examples=150, deadline=None)
@given(
    route=st.sampled_from([one for one in ROUTES if one.body is not None]),
    body=st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode)),
    kind=st.sampled_from(["application/json", "application/json; charset=utf-8", "text/plain", ""]),
)
def test_no_bytes_make_the_controller_fail(busy: Running, route: Route, body: bytes, kind: str) -> None:
    path = route.path.replace("{system}", "web1").replace("{jid}", "1")
    found = busy.run(call(busy.server.app, route.method, path, body=body, content_type=kind))
    assert found.status < 500, found.body
    check_answer(route, found.status, found.body)


@pytest.mark.parametrize("route", [one for one in ROUTES if one.method == "GET"], ids=lambda one: one.path)
def test_what_is_there_has_the_shape_that_is_promised(busy: Running, route: Route) -> None:
    path = route.path.replace("{system}", "kept1").replace("{jid}", "kept").replace("{operator}", "kept")
    path = path.replace("{environment}", "base").replace("{run}", "kept").replace("{plan}", "kept")
    path = path.replace("{chain}", "listed").replace("{schedule}", "nightly")
    path = path.replace("{subscription}", "kept")
    found = busy.run(call(busy.server.app, "GET", path))
    assert found.status == 200, found.body
    if route.answer is not None and not route.streams:
        check_answer(route, found.status, found.body)
        assert _undeclared(json.loads(found.body), _schema_of(route)) == []


def _schema_of(route: Route) -> dict[str, Any]:
    document = openapi([route])
    content = document["paths"][route.path]["get"]["responses"]["200"]["content"]["application/json"]
    return {"schemas": document["components"]["schemas"], **content["schema"]}


def _undeclared(value: Any, schema: dict[str, Any], schemas: Any = None) -> list[str]:
    """Keys of an answer that OpenAPI does not name."""
    schemas = schemas or schema["schemas"]
    if "$ref" in schema:
        return _undeclared(value, schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if isinstance(value, list):
        return [name for one in value for name in _undeclared(one, schema.get("items", {}), schemas)]
    properties = schema.get("properties")
    if not isinstance(value, dict) or properties is None:
        return []
    below = [_undeclared(one, properties[name], schemas) for name, one in value.items() if name in properties]
    return [*(name for name in value if name not in properties), *(one for some in below for one in some)]


def test_the_document_is_whole(busy: Running) -> None:
    document = busy.client().openapi()
    text = json.dumps(document)
    assert document["openapi"] == "3.1.0" and all(route.about for route in ROUTES)
    assert len({one["operationId"] for path in document["paths"].values() for one in path.values()}) == len(
        ROUTES
    )
    for reference in {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}:
        assert reference in document["components"]["schemas"]
    for path, methods in document["paths"].items():
        named = {one["name"] for one in next(iter(methods.values()))["parameters"] if one["in"] == "path"}
        assert all(f"{{{name}}}" in path for name in named)
