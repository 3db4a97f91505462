"""Chains, the builder, plans, inbox, calendar, commands, jobs, events, keys: as people see and use them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest
from tests.fleet.api.kit import (
    Running,
    add_audit,
    add_chain_run,
    add_events,
    add_job,
    add_return,
    add_system,
)
from tests.fleet.api.test_library import ALWAYS
from tests.fleet.api.test_permission import POLICY
from tests.fleet.console.kit import Browser, Shown, form_token, running_console

CHAIN = """\
chain: os-patch
description: Patch it.
actions:
  - id: drain
    command: lbctl drain
  # proven
  - id: reboot
    reboot: {when: needed}
  - id: web
    state: web
"""
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
PAGES = (
    "/chains",
    "/chains?archived=1",
    "/chains/os-patch",
    "/chains/os-patch?target=*",
    "/chains/os-patch?version=1",
    "/chains/os-patch/diff",
    "/chains/os-patch/edit",
    "/chains/brand-new/edit",
    "/plans",
    "/inbox",
    "/inbox/gate/r1/run",
    "/calendar",
    "/calendar?week=-1",
    "/calendar?target=*&chain=os-patch",
    "/command",
    "/command?target=*&run=test.ping",
    "/command?target=nothing&run=test.ping",
    "/jobs",
    "/jobs?open=1",
    "/jobs/j1",
    "/jobs/j1/web1",
    "/events",
    "/events?tag=a/*&hours=720",
    "/admin",
    "/admin?state=accepted",
    "/admin/policy",
    "/admin/policy?who=admin&function=test.ping&target=*",
    "/admin/audit",
)


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A fleet that has something of everything."""
    with running_console(tmp_path_factory.mktemp("work")) as api:
        for name in ("web1", "web2", "db1"):
            add_system(api.database, name)
        add_system(api.database, "new1", accept=False)
        add_chain_run(api.database, "r1", "web1")
        with api.database.write() as connection:
            connection.exec_driver_sql("UPDATE chain_gates SET expires = 4e9")
        add_job(api.database, "j1", ("web1", "web2", "db1"), function="cmd.run", args=["uptime"])
        for name in ("web1", "web2"):
            add_return(api.database, "j1", name, b'"up 3 days"')
        add_events(api.database, "a/b", "saltern/alarm")
        add_audit(api.database, 3)
        client = api.client()
        client.policy.set(POLICY)
        client.chains.save(CHAIN, note="first")
        client.chains.save(CHAIN + "  - {id: last, command: 'true'}\n", note="second")
        client.windows.set("always", ALWAYS, target="web*")
        client.schedules.set("nightly", "os-patch", "30 2 * * *", target="web*")
        yield api


def browser(console: Running, role: str) -> Browser:
    made = Browser(console)
    assert made.sign_in(role).status == 303
    return made


@pytest.mark.parametrize("path", PAGES)
def test_every_page_shows_what_is_there(console: Running, admin: Browser, path: str) -> None:
    shown = admin.get(path)
    assert shown.status == 200, shown.text[-3000:]
    assert not re.findall(r"<[^>]+ (?:style|on\w+)=", shown.text), "nothing inline"
    assert "Undefined" not in shown.text


@pytest.mark.parametrize("path", [one for one in PAGES if not one.startswith("/admin")])
def test_a_viewer_reads_all_that_is_no_secret(console: Running, viewer: Browser, path: str) -> None:
    shown = viewer.get(path)
    assert shown.status == 200, shown.text[-3000:]


# -- the builder ----------------------------------------------------------------------------------------


def fields(text: str) -> dict[str, str]:
    """What the form of the builder would send."""
    found = {
        name: html.unescape(value)
        for name, value in re.findall(
            r'<input[^>]*type="(?:hidden|text)"[^>]*name="([^"]+)" value="([^"]*)"', text
        )
    }
    for name, value in re.findall(r'<input id="[^"]*" name="([^"]+)" type="text" value="([^"]*)"', text):
        found[name] = html.unescape(value)
    for name, value in re.findall(r'<textarea[^>]*name="([^"]+)"[^>]*>([^<]*)</textarea>', text):
        found[name] = html.unescape(value)
    for name, value in re.findall(r'<input type="radio" name="([^"]+)" value="([^"]*)" checked', text):
        found[name] = html.unescape(value)
    return found


def change(who: Browser, page: str, do: str, **more: str) -> str:
    """The page after a button of it; ``more`` is what was typed first."""
    given = {**fields(page), **{name.replace("_", "-", 1): value for name, value in more.items()}, "do": do}
    shown = who.post("/chains/os-patch/draft", given)
    assert shown.status == 200, shown.text[-3000:]
    return shown.text


def text_of(page: str) -> str:
    return fields(page)["text"]


def test_the_builder_moves_adds_edits_and_saves(console: Running, admin: Browser) -> None:
    page = admin.get("/chains/os-patch/edit").text
    before = text_of(page)
    assert "cut: segment 2 begins under a proven new boot" in page
    assert change(admin, page, "") and text_of(change(admin, page, "")) == before, "looking changes nothing"
    page = change(admin, page, "choose actions:2")
    assert '<h2 id="form">3 · state</h2>' in page
    page = change(admin, page, "up")
    assert re.findall(r"- id: (\w+)", text_of(page)) == ["drain", "web", "reboot"]
    assert "# proven" in text_of(page), "a comment goes with its action"
    page = change(admin, page, "add health")
    assert "health" in re.findall(r"- id: (\w+)", text_of(page))
    page = change(admin, page, "", f_command="curl -f localhost")
    assert "curl -f localhost" in text_of(page)
    page = change(admin, page, "copy")
    assert "health-2" in text_of(page)
    page = change(admin, page, "remove")
    assert "health-2" not in text_of(page)
    saved = admin.post("/chains/os-patch/save", {**fields(page), "note": "by the builder"})
    assert (saved.status, saved.header("location").partition("?")[0]) == (303, "/chains/os-patch")
    kept = console.client().chains.text("os-patch")
    assert (kept["number"], kept["note"], kept["text"]) == (3, "by the builder", text_of(page))
    given = {**fields(page), "text": before + "# late\n", "client_token": "another-token-of-this-page"}
    late = admin.post("/chains/os-patch/save", given)
    assert late.status == 409 and "version 3" in late.text, late.text[-3000:]


def test_a_wrong_value_has_its_line_and_a_repair(console: Running, admin: Browser) -> None:
    page = change(admin, admin.get("/chains/os-patch/edit").text, "", text=CHAIN)
    page = change(admin, page, "choose actions:1")
    page = change(admin, page, "", f_return_deadline="60m")
    assert "1 problem" in page and "a number of seconds is needed" in page
    assert re.search(r"<button class=\"primary acts\"[^>]*disabled", page), "it cannot be saved"
    page = change(admin, page, "repair 0")
    assert "return_deadline: 3600" in text_of(page) and "1 problem" not in page


def test_the_text_wins_if_it_was_edited(console: Running, admin: Browser) -> None:
    page = admin.get("/chains/os-patch/edit").text
    page = change(admin, page, "", text="chain: os-patch\nactions:\n  - {id: only, wait: 3}\n")
    assert "1 action" in page and "only" in page
    page = change(admin, page, "", text="chain: [")
    assert "os-patch.yaml:1" in page, "a text that cannot be read is reported, and stays"
    assert text_of(page) == "chain: ["


def test_an_action_of_another_page_is_added(console: Running, admin: Browser) -> None:
    page = admin.get('/chains/os-patch/edit?add={"command":"uptime"}').text
    assert "command: uptime" in text_of(page)
    assert admin.get("/chains/os-patch/edit?add={nonsense").status == 200


# -- acts -----------------------------------------------------------------------------------------------


def location(shown: Shown) -> str:
    return shown.header("location").partition("?")[0]


def test_a_run_is_begun_on_the_number_that_was_shown(console: Running, admin: Browser) -> None:
    page = "/chains/os-patch?target=web*"
    assert '<b class="big">2</b> systems' in admin.get(page).text
    wrong = admin.act(page, "/chains/os-patch/run", {"target": "web*", "count": "5"})
    assert wrong.status == 409 and "now act on 2 systems" in wrong.text
    done = admin.act(
        page,
        "/chains/os-patch/run",
        {"target": "web*", "count": "2", "waves": "1 rest", "gated": "on", "needed": "1"},
    )
    assert done.status == 303 and location(done).startswith("/runs/"), done.text[-2000:]
    run = console.client().chain_runs.get(location(done).removeprefix("/runs/"))
    assert [one["systems"] for one in run["waves"]] == [1, 1] and run["gates"][0]["gate"] == "wave 2"


def test_a_gate_is_decided_with_the_plan_that_was_looked_at(console: Running) -> None:
    viewer, approver = browser(console, "viewer"), browser(console, "approver")
    where = "/inbox/gate/r1/run"
    assert "the role approver is needed" in viewer.get(where).text
    refused = viewer.act(where, f"{where}/approve", {"vote": "approve", "digest": "", "count": "1"})
    assert refused.status == 403
    other = approver.act(where, f"{where}/approve", {"vote": "approve", "digest": "ab" * 32, "count": "1"})
    assert other.status == 409 and "another plan" in other.text
    done = approver.act(
        where, f"{where}/approve", {"vote": "approve", "digest": "", "count": "1", "reason": "looked"}
    )
    assert (done.status, location(done)) == (303, "/inbox"), done.text[-2000:]
    votes = console.client().chain_runs.get("r1")["gates"][0]["votes"]
    assert [(one["who"], one["why"]) for one in votes] == [("approver", "looked")]


def test_a_request_for_approval_is_decided(console: Running) -> None:
    operator, approver = browser(console, "operator"), browser(console, "approver")
    sent = operator.act(
        "/account", "/command/run", {"run": "state.apply web", "target": "web*", "count": "2"}
    )
    assert sent.status == 403 and "needs-approval" in sent.text
    one = next(row for row in console.client().approvals.list() if row["state"] == "open")
    where = f"/inbox/request/{one['id']}"
    assert "state.apply on 2 systems" in approver.get(where).text
    done = approver.act(where, f"{where}/approve", {"count": "2"})
    assert (done.status, location(done)) == (303, "/inbox"), done.text[-2000:]
    sent = operator.act(
        "/account", "/command/run", {"run": "state.apply web", "target": "web*", "count": "2"}
    )
    assert sent.status == 303 and location(sent).startswith("/jobs/"), sent.text[-2000:]


def test_a_command_is_sent_and_stopped(console: Running, admin: Browser) -> None:
    sent = admin.act(
        "/account",
        "/command/run",
        {"run": "cmd.run 'echo a=b' timeout=5", "target": "web*", "count": "2", "life": "300"},
    )
    assert sent.status == 303, sent.text[-2000:]
    jid = location(sent).removeprefix("/jobs/")
    job = console.client().jobs.get(jid)
    assert (job["function"], job["args"], job["kwargs"]) == ("cmd.run", ["echo a=b"], {"timeout": 5})
    page = admin.get(f"/jobs/{jid}").text
    assert "Stop the rest" in page
    stop = f"/jobs/{jid}/stop"
    assert admin.act(f"/jobs/{jid}", stop, {"hard": "on", "count": "2"}).status == 409, "it has to be typed"
    done = admin.act(f"/jobs/{jid}", stop, {"hard": "on", "count": "2", "typed": "2", "reason": "wrong one"})
    assert done.status == 303, done.text[-2000:]
    assert console.client().jobs.get(jid)["cancelled_at"]


def test_equal_answers_are_one_line(admin: Browser) -> None:
    page = admin.get("/jobs/j1").text
    assert '<b class="big">2</b>' in page and "up 3 days" in page
    assert "Not answered: 1" in page


def test_windows_and_schedules_are_kept_and_removed(console: Running, admin: Browser) -> None:
    client = console.client()
    new = {
        "name": "nights",
        "kind": "allow",
        "target": "db*",
        "zone": "UTC",
        "from": "22:00",
        "to": "04:00",
        "days": ["MO", "TU"],
    }
    assert admin.act("/calendar", "/calendar/windows", new).status == 303
    assert [one["name"] for one in client.windows.list()] == ["always", "nights"]
    assert admin.act("/calendar", "/calendar/windows", {**new, "text": "nonsense"}).status == 422
    assert admin.act("/calendar", "/calendar/windows/nights/remove", {}).status == 303
    given = {"name": "often", "chain": "os-patch", "cron": "0 * * * *", "target": "web*"}
    assert admin.act("/calendar", "/calendar/schedules", given).status == 303
    assert admin.act("/calendar", "/calendar/schedules/often/disable", {}).status == 303
    assert client.schedules.get("often")["enabled"] is False
    assert admin.act("/calendar", "/calendar/schedules/often/remove", {}).status == 303
    assert [one["name"] for one in client.schedules.list()] == ["nightly"]


def test_keys_are_decided_with_their_fingerprint(console: Running, admin: Browser) -> None:
    other = admin.act("/admin", "/admin/systems/new1/accept", {"count": "1", "fingerprint": "SHA256:other"})
    assert other.status >= 400
    done = admin.act("/admin", "/admin/systems/new1/accept", {"count": "1", "fingerprint": "SHA256:new1"})
    assert done.status == 303, done.text[-2000:]
    assert console.client().systems.get("new1")["state"] == "accepted"
    plain = admin.act("/admin", "/admin/systems/new1/revoke", {"count": "1"})
    assert plain.status == 409 and "console-typed" in plain.text
    done = admin.act("/admin", "/admin/systems/new1/revoke", {"count": "1", "typed": "1", "reason": "stolen"})
    assert done.status == 303 and console.client().systems.get("new1")["state"] == "revoked"
    made = admin.act("/admin", "/admin/tokens", {"uses": "3", "hours": "2"})
    assert made.status == 200 and "saltern-join-" in made.text


def test_operators_and_the_policy(console: Running, admin: Browser) -> None:
    new = {"name": "zoe", "roles": ["viewer", "approver"], "password": "a long enough password"}
    assert admin.act("/admin/policy", "/admin/operators", new).status == 303
    assert admin.act("/admin/policy", "/admin/operators/zoe/disable", {}).status == 303
    assert next(one for one in console.client().operators.list() if one["name"] == "zoe")["disabled"]
    wrong = admin.act("/admin/policy", "/admin/policy", {"text": "rules: 1"})
    assert wrong.status == 422


def test_events_can_be_taken_away_as_lines(admin: Browser) -> None:
    import json

    shown = admin.get("/events/export?hours=720&tag=a/*")
    assert shown.header("content-type").startswith("application/jsonl")
    assert [json.loads(line)["tag"] for line in shown.text.splitlines()] in ([], ["a/b"])


def test_a_broken_audit_is_said_at_once(console: Running, admin: Browser) -> None:
    assert "unbroken" in admin.get("/admin/audit").text
    with console.database.write() as connection:
        row = connection.exec_driver_sql("SELECT who FROM audit WHERE number = 2").scalar()
        connection.exec_driver_sql("UPDATE audit SET who = 'mallory' WHERE number = 2")
    try:
        assert "The audit is broken: row 2 was changed" in admin.get("/admin/audit").text
    finally:
        with console.database.write() as connection:
            connection.exec_driver_sql("UPDATE audit SET who = ? WHERE number = 2", (row,))


# -- hostile text ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/chains/{}/edit",
        "/chains/os-patch?target={}",
        "/command?target={}&run={}",
        "/calendar?target=*&chain={}",
        "/events?tag={}&system={}",
        "/jobs?user={}&function={}&system={}",
        "/admin?state={}",
        "/admin/audit?who={}",
        "/admin/policy?who={}",
        "/chains/os-patch/edit?add={}",
    ],
)
def test_what_an_address_says_is_text(admin: Browser, path: str) -> None:
    from urllib.parse import quote

    shown = admin.get(path.replace("{}", quote(EVIL, safe="")))
    assert "<script>alert" not in shown.text and "<img src=x" not in shown.text


def test_what_systems_and_operators_write_is_text(console: Running, admin: Browser) -> None:
    from msgspec.json import encode

    client = console.client()
    add_job(console.database, "evil", ("web1",), function="cmd.run", args=[EVIL], user=EVIL[:60])
    add_return(console.database, "evil", "web1", encode(f"{EVIL}\x1b[31mred\u202e"))
    add_events(console.database, f"x/{EVIL}")
    quoted = encode(EVIL).decode()
    action = f"  - id: a\n    title: {quoted}\n    command: {quoted}\n"
    client.chains.save(f"chain: evil\ndescription: {quoted}\nactions:\n{action}", note=EVIL)
    client.windows.set("evil", ALWAYS, target="db*", note=EVIL)
    for path in (
        "/chains",
        "/chains/evil",
        "/chains/evil/edit",
        "/jobs",
        "/jobs/evil",
        "/jobs/evil/web1",
        "/calendar",
        "/admin/audit",
        "/events?hours=720",
        "/command",
    ):
        shown = admin.get(path)
        assert shown.status == 200, shown.text[-2000:]
        assert "<script>alert" not in shown.text and "<img src=x" not in shown.text, path
        assert "\x1b" not in shown.text and "\u202e" not in shown.text, path
    client.windows.remove("evil")


def test_a_form_of_another_session_builds_nothing(console: Running, admin: Browser) -> None:
    page = admin.get("/chains/os-patch/edit").text
    other = browser(console, "operator")
    assert other.post("/chains/os-patch/draft", fields(page)).status == 403
    assert form_token(page)
