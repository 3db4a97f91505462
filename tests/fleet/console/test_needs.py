"""What systems need and how long they are up; plans of drafts; the inbox one by one; cheap numbers."""

from __future__ import annotations

import csv
import io
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.api.kit import Running, add_chain_run, add_system
from tests.fleet.api.test_permission import POLICY
from tests.fleet.console.data import add_fleet
from tests.fleet.console.kit import Browser
from tests.fleet.console.test_pages import words

from saltern import __version__
from saltern.fleet.console.render import environment
from saltern.fleet.console.views.inbox import beside

CHAIN = "chain: kept\nactions:\n  - {id: a, command: 'true'}\n"
DRAFT = "chain: kept\nactions:\n  - {id: a, command: 'true'}\n  - {id: b, command: 'false'}\n"
OLD, BAD = "web-old", "bad-1"


def add_all(running: Running) -> None:
    database, booted = running.database, int(time.time()) - 3 * 86_400
    reasons = ["kernel 6.1.0-41 is installed, and 6.1.0-40 is running"]
    add_fleet(database, [OLD], booted_at=booted, reboot_due=True, reboot_reasons=reasons)
    add_fleet(database, [BAD], booted_at="<b>", reboot_due="yes", reboot_reasons="<b>")
    add_fleet(database, ["new-1"], booted_at=booted, reboot_due=False, reboot_reasons=[])
    with database.write() as connection:
        text = "UPDATE systems SET version = ? WHERE id = 'new-1'"
        connection.exec_driver_sql(text, (__version__,))
    add_system(database, "waits1", accept=False)
    for name in ("r1", "r2"):
        add_chain_run(database, name, OLD)
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE chain_gates SET expires = 4e9")
    running.agent("live1")
    running.client().policy.set(POLICY)
    running.client().chains.save(CHAIN)


def row_of(text: str, system: str) -> str:
    return words(next(row for row in text.split("<tr>") if f"/systems/{system}" in row))


# -- needs, and up ------------------------------------------------------------------------------------------


def test_the_list_says_what_systems_need_and_how_long_they_are_up(admin: Browser) -> None:
    text = admin.get("/systems").text
    assert "reboot, agent update" in row_of(text, OLD) and "3 d" in row_of(text, OLD)
    assert "reboot" not in row_of(text, "new-1") and "agent update" not in row_of(text, "new-1")
    assert "reboot" not in row_of(text, BAD), "what is no answer is none"
    assert "reboot_due" in text and "G%40reboot_due%3ATrue" in text, "the list can be narrowed to them"


def test_a_system_says_why_it_needs_a_reboot(admin: Browser) -> None:
    text = words(admin.get(f"/systems/{OLD}").text)
    assert "a reboot kernel 6.1.0-41 is installed, and 6.1.0-40 is running" in text
    assert f"its agent is 0.9.4, and the controller {__version__}" in text
    assert "up 3 d" in text
    assert "Neither a reboot nor an agent update" in words(admin.get("/systems/new-1").text)
    bad = admin.get(f"/systems/{BAD}")
    assert bad.status == 200 and "a reboot" not in words(bad.text).partition("Drift")[0].partition("needs")[2]


def test_the_file_of_systems_has_both(admin: Browser) -> None:
    rows = {one["id"]: one for one in csv.DictReader(io.StringIO(admin.get("/export/systems").text))}
    assert rows[OLD]["needs"] == "reboot, agent update" and float(rows[OLD]["booted_at"]) > 1e9
    assert rows[BAD]["booted_at"] == "" and rows["new-1"]["needs"] == ""


# -- a plan of a draft --------------------------------------------------------------------------------------


def test_a_draft_is_planned_on_the_number_that_was_shown(console: Running, admin: Browser) -> None:
    page, path = "/chains/kept/edit", "/chains/kept/plan-draft"
    builder = admin.get(page).text
    assert 'data-open="plan-draft"' in builder and 'href="/chains/kept#vers">Versions' in builder
    asked = admin.get("/meant?target=live*").text
    assert 'name="count" value="1"' in asked and "Plan on 1 system<" in asked
    fields = {"text": DRAFT, "target": "live*", "meant": "live*", "count": "1"}
    other = admin.act(page, path, {**fields, "target": "*"})
    assert other.status == 409 and "not the one that was counted" in other.text
    wrong = admin.act(page, path, {**fields, "count": "3"})
    assert wrong.status == 409 and "it would now act on 1 systems" in wrong.text
    done = admin.act(page, path, fields)
    assert done.status == 303, done.text[-2000:]
    plan = done.header("location").partition("?")[0].removeprefix("/plans/")
    assert admin.get(f"/plans/{plan}").status == 200
    assert console.client().chains.get("kept")["version"] == 2, "a plan is of a version"


@pytest.mark.parametrize(
    ("target", "why"), [("nobody*", "means no system"), ("(", "bad target"), ("", "target")]
)
def test_a_target_of_a_plan_that_means_nobody_says_so(admin: Browser, target: str, why: str) -> None:
    shown = admin.get(f"/meant?target={target}")
    assert shown.status == 200 and 'class="note failed"' in shown.text and "<button" not in shown.text
    assert why in shown.text.lower(), shown.text


def test_who_may_run_nothing_plans_nothing(console: Running) -> None:
    viewer = Browser(console)
    viewer.sign_in("viewer")
    assert '<dialog id="plan-draft"' not in viewer.get("/chains/kept/edit").text


# -- the inbox, one by one ----------------------------------------------------------------------------------


def test_what_waits_is_walked_through(admin: Browser) -> None:
    first = admin.get("/inbox/gate/r1/run").text
    assert re.search(r"1 of [23] ", words(first))
    assert re.search(r'rel="next" href="/inbox/gate/r2/run"', first) and 'rel="prev"' not in first
    second = admin.get("/inbox/gate/r2/run").text
    assert re.search(r"2 of [23] ", words(second))
    assert re.search(r'rel="prev" href="/inbox/gate/r1/run"', second)


ITEMS = st.lists(st.sampled_from(["gate", "approval", "key", "leg", "run"]), max_size=8)


@given(ITEMS)
def test_each_has_those_beside_it_for_neighbours(kinds: list[str]) -> None:
    items = [
        {"kind": kind, "id": str(n), "run": "r/1", "gate": f"g{n}", "about": "s"}
        for n, kind in enumerate(kinds)
    ]
    here = [one for one in items if one["kind"] in ("gate", "approval")]
    shown = [beside(items, one["id"]) for one in here]
    assert [one["number"] for one in shown] == list(range(1, len(here) + 1))
    assert all(one["of"] == len(here) for one in shown)
    assert [bool(one["previous"]) for one in shown] == [n > 0 for n in range(len(here))]
    assert [bool(one["next"]) for one in shown] == [n < len(here) - 1 for n in range(len(here))]
    gone = beside(items, "decided")
    assert gone["number"] is None and bool(gone["next"]) == bool(here) and not gone["previous"]


# -- numbers ------------------------------------------------------------------------------------------------


def test_the_number_of_what_waits_is_that_of_the_list(console: Running) -> None:
    client = console.client()

    def both() -> tuple[int, int]:
        return client.session.get("/v1/inbox/count")["waiting"], len(client.inbox()["items"])

    number, listed = both()
    assert number == listed >= 3, "two gates, and all keys as one"

    def after(*changes: str) -> tuple[int, int]:
        with console.database.write() as connection:
            for change in changes:
                connection.exec_driver_sql(change)
        return tuple(one - number for one in both())  # type: ignore[return-value]

    assert after("UPDATE chain_gates SET expires = 5 WHERE run = 'r1'") == (-1, -1)
    assert after("UPDATE chain_gates SET expires = 4e9") == (0, 0)
    assert after("UPDATE chain_runs SET status = 'halted' WHERE id = 'r2'") == (1, 1)
    unknown = "UPDATE chain_legs SET status = 'indeterminate' WHERE run = 'r1'"
    assert after("UPDATE chain_runs SET created = 4e9 WHERE id = 'r1'", unknown) == (2, 2)
    back = "UPDATE chain_runs SET status = 'awaiting approval', created = 10"
    assert after(back, "UPDATE chain_legs SET status = 'pending'") == (0, 0)


def test_a_request_for_approval_is_one_of_them(console: Running) -> None:
    operator = Browser(console)
    operator.sign_in("operator")
    before = console.client().session.get("/v1/inbox/count")["waiting"]
    operator.act("/account", "/command/run", {"run": "state.apply web", "target": OLD, "count": "1"})
    after = console.client().session.get("/v1/inbox/count")["waiting"]
    assert after == before + 1 == len(console.client().inbox()["items"])


def test_versions_of_agents_are_counted_only_for_who_asks(console: Running) -> None:
    get = console.client().session.get
    whole = get("/v1/glance", target="web-old or new*")
    light = get("/v1/glance", target="web-old or new*", versions="false")
    assert whole["versions"] == {"0.9.4": 1, __version__: 1}
    assert light == whole | {"versions": {}}


KEYS = st.sampled_from(["items", "get", "values", "id", "name", "none"])


@given(st.dictionaries(KEYS, st.integers(), max_size=5), KEYS)
def test_a_dictionary_gives_templates_what_jinja_would(row: dict[str, int], name: str) -> None:
    from jinja2 import Environment, StrictUndefined

    usual = Environment(undefined=StrictUndefined)
    ours, theirs = environment().getattr(row, name), usual.getattr(row, name)
    if isinstance(theirs, StrictUndefined):
        assert isinstance(ours, StrictUndefined)
    else:
        assert ours == theirs
