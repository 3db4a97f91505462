"""What holds for every page and every action: headers, roles, forged requests, text of others."""

from __future__ import annotations

import re

import pytest
from tests.fleet.api.kit import Running
from tests.fleet.console.kit import Browser, form_token

from saltern.fleet.access.ports import ACTIONS
from saltern.fleet.api.table import ROUTES
from saltern.fleet.console.act import ACTS
from saltern.fleet.console.ask import NAME, ROWS
from saltern.fleet.console.pages import PAGES
from saltern.fleet.console.row import Act, Page

# as the design has it, word for word
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
EVERY_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda one: one.path)
EVERY_ACT = pytest.mark.parametrize("act", ACTS, ids=lambda one: one.path)


def example(path: str) -> str:
    return NAME.sub("x1", path)


@EVERY_PAGE
def test_a_page_wants_a_session(visitor: Browser, page: Page) -> None:
    sent = visitor.get(example(page.path))
    assert sent.status == 303
    assert sent.header("location").startswith("/sign-in")


@EVERY_PAGE
def test_a_page_has_an_action_of_the_policy(page: Page) -> None:
    assert page.action in ACTIONS


@EVERY_PAGE
def test_a_viewer_sees_no_page_that_is_not_theirs(viewer: Browser, page: Page) -> None:
    allowed = ACTIONS[page.action].own or "viewer" in ACTIONS[page.action].roles
    shown = viewer.get(example(page.path))
    assert (shown.status == 403) is not allowed, shown.text[-2000:]


@EVERY_ACT
def test_an_action_is_a_route_of_the_api(act: Act) -> None:
    assert (act.method, act.route) in ROWS
    assert act.method != "GET"
    assert set(NAME.findall(act.route)) <= set(NAME.findall(act.path))


@EVERY_ACT
def test_a_forged_request_is_refused(admin: Browser, act: Act) -> None:
    """Without a token, with one of another session, from another site: nothing is asked of the API."""
    path, other = example(act.path), Browser(admin.running)
    other.sign_in("viewer")
    own, foreign = form_token(admin.get("/account").text), form_token(other.get("/account").text)
    for fields, headers in (
        ({}, {}),
        ({"csrf": "x"}, {}),
        ({"csrf": foreign}, {}),
        ({"csrf": own}, {"origin": "https://evil.test"}),
        ({"csrf": own}, {"sec_fetch_site": "cross-site"}),
        ({"csrf": own}, {"sec_fetch_site": "same-site"}),
        ({"csrf": own}, {"content_type": "text/plain"}),
    ):
        refused = admin.post(path, fields, **headers)
        assert refused.status in (403, 415), (fields, headers, refused.text[-500:])


@EVERY_ACT
def test_an_action_wants_a_session(visitor: Browser, act: Act) -> None:
    token = form_token(visitor.get("/sign-in").text)
    assert visitor.post(example(act.path), {"csrf": token}).status == 403


def test_headers_are_strict(admin: Browser) -> None:
    for path in ("/", "/sign-in", "/nothing", "/static/console.css", "/stream"):
        shown = admin.get(path)
        assert shown.header("content-security-policy") == POLICY
        assert shown.header("x-content-type-options") == "nosniff"
        assert shown.header("x-frame-options") == "DENY"
        assert shown.header("referrer-policy") == "same-origin"
    assert admin.get("/").header("cache-control") == "no-store"


def test_pages_have_nothing_inline_and_nothing_from_elsewhere(admin: Browser) -> None:
    for page in PAGES:
        if NAME.search(page.path):
            continue
        text = admin.get(page.path).text
        assert not re.search(r"<script(?![^>]* src=)", text), page.path
        assert not re.search(r"""\sstyle\s*=|<style|\son[a-z]+\s*=\s*["']|javascript:""", text), page.path
        assert not re.search(r"""(?:src|href|action)=["'](?:https?:)?//""", text), page.path


def test_a_page_that_is_not_there_says_so(admin: Browser) -> None:
    shown = admin.get("/nothing")
    assert shown.status == 404
    assert "<title>404 · saltern</title>" in shown.text and "There is no such page" in shown.text


def test_the_api_keeps_its_own_answers(admin: Browser) -> None:
    assert admin.get("/v1/nothing").header("content-type") == "application/json"
    assert admin.get("/v1/health").text.startswith('{"status":"ok"')
    assert admin.get("/nothing").header("content-type").startswith("text/html")


def test_a_cookie_opens_no_route_of_the_api(admin: Browser) -> None:
    assert admin.get("/v1/me").status == 401


def test_no_page_reads_without_the_api() -> None:
    """All that the console imports of the store is the number of the newest event, and kinds of secrets."""
    import ast
    from pathlib import Path

    import saltern.fleet.console as package

    allowed = {"saltern.fleet.store.events", "saltern.fleet.store.credentials"}
    for file in Path(package.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("saltern.fleet.store"):
                assert node.module in allowed, file


def test_every_route_has_one_row() -> None:
    assert len(ROWS) == len(ROUTES)


def test_a_page_works_below_a_prefix(tmp_path_factory: pytest.TempPathFactory) -> None:
    from tests.fleet.console.kit import running_console

    with running_console(tmp_path_factory.mktemp("below"), prefix="/saltern") as running:
        for root in ("/saltern", ""):  # a proxy may remove it, or not
            visitor = Browser(running, root=root)
            assert visitor.get("/account").header("location") == "/saltern/sign-in?next=%2Faccount"
            assert visitor.sign_in("viewer", next="/account").header("location") == "/saltern/account"
            text = visitor.get("/account").text
            assert 'action="/saltern/sign-out"' in text
            assert not re.search(r"""(?:href|src|action|hx-post)=["']/(?!saltern)""", text)


def test_assets_are_kept_by_browsers_as_long_as_they_are_the_same(visitor: Browser) -> None:
    text = visitor.get("/sign-in").text
    (path,) = re.findall(r'href="(/static/console.css\?v=\w+)"', text)
    assert "immutable" in visitor.get(path).header("cache-control")
    assert visitor.get("/static/console.css?v=old").header("cache-control") == "no-cache"
    assert visitor.get("/static/../app.py").status == 404
    assert visitor.get("/static/htmx-LICENSE.txt").status == 200


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\x1b[31m\u202eevil"]
)
def test_text_of_others_is_text(console: Running, hostile: str) -> None:
    visitor = Browser(console)
    visitor.sign_in("viewer")
    visitor.act("/account", "/account/tokens", {"label": hostile, "days": "1"})
    text = visitor.get("/account").text
    assert hostile not in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_token_is_shown_once(console: Running) -> None:
    visitor = Browser(console)
    visitor.sign_in("operator")
    shown = visitor.act("/account", "/account/tokens", {"label": "ci", "scopes": "own.read", "days": "1"})
    (secret,) = re.findall(r"stt_[0-9a-f]+\.[\w-]+", shown.text)
    assert console.client(secret).me()["name"] == "operator"
    assert secret not in visitor.get("/account").text
