"""Attacks over the whole table of routes: what is added to it is attacked too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.routing import Route as HttpRoute
from starlette.routing import Router
from tests.fleet.api.kit import Running
from tests.fleet.console.kit import Browser, form_token, running_console

import saltern.fleet.console as package
from saltern.fleet.access.ports import ACTIONS
from saltern.fleet.console.act import ACTS
from saltern.fleet.console.app import make_console
from saltern.fleet.console.ask import NAME, ROWS
from saltern.fleet.console.downloads import DOWNLOADS
from saltern.fleet.console.pages import PAGES
from saltern.fleet.console.row import Act
from saltern.fleet.console.sign_in import doors, safe_next
from saltern.fleet.store.audit import entries

SCRIPT = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}\x1b[31m\u202e"
PUBLIC = {"/sign-in", "/sign-in/provider", "/sign-in/back", "/sign-in/link", "/static/{file}"}


def sources() -> str:
    return "\n".join(file.read_text() for file in Path(package.__path__[0]).rglob("*.py"))


# every name that some page reads from an address
QUERIES = sorted(
    {*re.findall(r"quer(?:y|y_params)\.get\(\s*\"(\w+)\"", sources()), "did", "next", "at", "to"}
)


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("attacks")) as running:
        yield running


@pytest.fixture(scope="module")
def people(console: Running) -> dict[str, Browser]:
    made = {role: Browser(console) for role in ("viewer", "operator", "approver", "admin")}
    for role, browser in made.items():
        assert browser.sign_in(role).status == 303
    return made


@pytest.fixture(scope="module")
def routes(console: Running) -> list[HttpRoute]:
    shell: Any = make_console(console.server.app.desk)
    router: Router = shell._app
    return [one for one in router.routes if isinstance(one, HttpRoute)]


def reads(routes: list[HttpRoute]) -> list[str]:
    return [one.path for one in routes if "GET" in (one.methods or ())]


def writes(routes: list[HttpRoute]) -> list[str]:
    return [one.path for one in routes if "POST" in (one.methods or ())]


def example(path: str, value: str = "x1") -> str:
    return NAME.sub(quote(value, safe=""), path)


def test_every_route_is_a_row_of_a_table(routes: list[HttpRoute], console: Running) -> None:
    tables = {one.path for one in PAGES} | {one.path for one in ACTS} | {one.path for one in DOWNLOADS}
    own = {"/stream", "/parts", "/go", "/jobs/{jid}/{system}/report", "/static/{file}"}
    entered = {path for path, _, _ in doors(console.server.app.desk)}
    assert {one.path for one in routes} == tables | own | entered


def test_nothing_is_read_without_a_session(routes: list[HttpRoute], console: Running) -> None:
    for path in reads(routes):
        shown = Browser(console).get(example(path))
        if path not in PUBLIC:
            assert shown.status in (303, 403), path
            assert shown.status == 403 or shown.header("location").startswith("/sign-in"), path


def test_nothing_is_written_without_the_token_of_the_session(
    routes: list[HttpRoute], console: Running, people: dict[str, Browser]
) -> None:
    foreign = form_token(people["viewer"].get("/account").text)
    before = rows(console)
    for path in writes(routes):
        for fields in ({}, {"csrf": ""}, {"csrf": "x"}, {"csrf": foreign}):
            refused = people["admin"].post(example(path), {**fields, "name": "admin", "password": "x"})
            assert refused.status == 403, (path, fields, refused.status)
        for method in ("PUT", "DELETE", "PATCH", "GET"):
            assert people["admin"].send(method, example(path)).status != 204
    assert rows(console) == before


def rows(console: Running) -> int:
    with console.database.read() as connection:
        return sum(1 for _ in entries(connection))


def is_open_to(role: str, act: Act) -> bool:
    action = ACTIONS[str(ROWS[act.method, act.route].action)]
    return action.own or role in action.roles


@pytest.mark.parametrize("role", ["viewer", "operator", "approver"])
def test_what_is_not_of_a_role_is_refused_whatever_the_form_says(
    console: Running, people: dict[str, Browser], role: str
) -> None:
    """Forced browsing: every write of the table that the role has not, with a right token of its session."""
    token = form_token(people[role].get("/account").text)
    for act in ACTS:
        if is_open_to(role, act):
            continue
        before = rows(console)
        fields = {"csrf": token, "count": "1", "typed": "1", "reason": "r", "target": "*", "name": "n"}
        for count in ("0", "1"):
            done = people[role].post(example(act.path), {**fields, "count": count, "typed": count})
            assert done.status >= 400, (role, act.path, done.status)
        assert rows(console) == before, (role, act.path)


@pytest.mark.parametrize("role", ["viewer", "operator", "approver"])
def test_what_is_not_of_a_role_is_not_shown(people: dict[str, Browser], role: str) -> None:
    shown = [(one.path, one.action) for one in PAGES] + [(one.path, one.action) for one in DOWNLOADS]
    for path, name in shown:
        action = ACTIONS[name]
        if not (action.own or role in action.roles):
            assert people[role].get(example(path)).status == 403, (role, path)


def test_no_name_of_a_path_or_an_address_is_markup(
    routes: list[HttpRoute], people: dict[str, Browser], console: Running
) -> None:
    """Reflected script: every route, with one in every name of its path and in every query that is read."""
    query = "&".join(f"{name}={quote(SCRIPT, safe='')}" for name in QUERIES)
    assert len(QUERIES) > 25, QUERIES
    for path in reads(routes):
        for where in (example(path, SCRIPT), example(path), example(path, "*")):
            for browser in (people["admin"], Browser(console)):
                if path == "/stream" and where == path:
                    where += "?topics=none"
                shown = browser.get(f"{where}?{query}" if "?" not in where else where)
                check_text(shown.text, path)
                assert shown.status != 500, (path, shown.text[-2000:])


def check_text(text: str, path: str) -> None:
    assert "<script>alert" not in text and "<img src=x" not in text, path
    assert "\x1b" not in text and "\u202e" not in text, path
    assert "{{7*7}}" not in text or "49" not in text.partition("{{7*7}}")[0][-20:], path


def test_no_field_of_a_form_comes_back_as_markup(people: dict[str, Browser]) -> None:
    """Every write, with a script in every field and in every name of its path: the answer is text."""
    names = sorted({*re.findall(r"form\.(?:text|raw|is_on|many)\(\"([\w-]+)\"", sources())})
    token = form_token(people["admin"].get("/account").text)
    assert len(names) > 25, names
    for act in ACTS:
        for value in (SCRIPT, "x1"):
            fields = dict.fromkeys(names, SCRIPT) | {"csrf": token}
            for headers in ({}, {"hx_request": "true"}):
                done = people["admin"].post(example(act.path, value[:200]), fields, **headers)
                check_text(done.text, act.path)
                assert done.status != 500, (act.path, done.text[-2000:])


HOSTILE_PLACES = [
    "//evil.test", "/\\evil.test", "https://evil.test", "\\\\evil.test", "/\t/evil.test",
    "javascript:alert(1)", "//evil.test/%2f..", "/%0d%0aLocation:%20https://evil.test", "///evil.test",
]  # fmt: skip


@pytest.mark.parametrize("place", HOSTILE_PLACES)
def test_no_address_leads_elsewhere(
    routes: list[HttpRoute], people: dict[str, Browser], console: Running, place: str
) -> None:
    """Open redirect: whatever a route is given, it sends a browser only to a page of ours."""
    query = "&".join(f"{name}={quote(place, safe='')}" for name in QUERIES)
    for path in reads(routes):
        for browser in (people["admin"], Browser(console)):
            where = browser.get(f"{example(path)}?{query}").header("location")
            assert not where or re.match(r"/(?![/\\])", where), (path, where)
    visitor = Browser(console)
    where = visitor.sign_in("viewer", next=place).header("location")
    assert re.match(r"/(?![/\\])", where) and "evil.test" not in where.partition("?")[0].lstrip("/")[:9], (
        where
    )


@given(st.text(max_size=40))
@settings(max_examples=300)
def test_what_is_safe_stays_on_this_host(text: str) -> None:
    from urllib.parse import urljoin, urlsplit

    found = safe_next(text)
    whole = urljoin("https://console.test/sign-in", found or "/")
    assert urlsplit(whole).netloc == "console.test"


def test_a_session_that_someone_else_knows_is_none_after_a_sign_in(console: Running) -> None:
    """Fixation: whatever cookies a browser was given before, it has another session after it signed in."""
    attacker = Browser(console)
    attacker.sign_in("viewer")
    victim = Browser(console)
    victim.cookies = dict(attacker.cookies) | {"saltern-login": "e30=", "saltern-form": "known"}
    victim.sign_in("admin")
    assert victim.cookies["saltern"] != attacker.cookies["saltern"]
    assert attacker.get("/account").status == 303, "the session before has ended"
    assert victim.get("/admin").status == 200
