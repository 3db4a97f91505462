"""What pages help to find: lines of an output, boots, drift, saved targets, what is new, a broken audit."""

from __future__ import annotations

import csv
import io
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import encode
from tests.fleet.api.kit import Running, add_chain_plan, add_chain_run, add_job, add_return
from tests.fleet.console.data import add_fleet, demo
from tests.fleet.console.kit import Browser, running_console
from tests.fleet.console.test_pages import words

from saltern.fleet.console.downloads import FORMULA, plain_cell
from saltern.fleet.console.list_marks import mark_of
from saltern.fleet.console.pages import PAGES
from saltern.fleet.console.views.boots import YEAR, boots, glob_free
from saltern.fleet.console.views.output import MOST_LINES, found_lines, output_lines
from saltern.fleet.store.chain_outputs import put_outputs
from saltern.fleet.store.events import NewEvent, store_events

RUN = "20261116024712000002"
SYSTEM = "web-0016.fra"
OUTPUT = f"/runs/{RUN}/{SYSTEM}/output?step=patch"


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("reading")) as running:
        demo(running.database, time.time())
        text = "".join(f"line {number} <b>\n" for number in range(1, 2501)) + "E: Needle <script>\n"
        row = {"leg": f"{RUN}.{SYSTEM}", "step": 1, "attempt": 1, "stream": "stdout", "data": text.encode()}
        with running.database.write() as connection:
            put_outputs(connection, [{**row, "size": len(text), "cut": False}])
        yield running


@pytest.fixture(scope="module")
def reader(busy: Running) -> Browser:
    made = Browser(busy)
    assert made.sign_in("viewer").status == 303
    return made


@pytest.fixture(scope="module")
def boss(busy: Running) -> Browser:
    made = Browser(busy)
    assert made.sign_in("admin").status == 303
    return made


# -- output -----------------------------------------------------------------------------------------------


def test_the_end_of_a_long_output_is_shown_and_earlier_lines_on_demand(reader: Browser) -> None:
    text = words(reader.get(OUTPUT).text)
    assert "1,501 lines before" in text and "line 2500 &lt;b&gt;" in text and "line 1400 " not in text
    earlier = reader.get(f"{OUTPUT}&before=1502").text
    assert "line 1501 " in earlier and "line 502 " in earlier and "line 1502 " not in earlier
    assert "1,000 lines later" in words(earlier)


def test_a_word_is_found_in_all_lines_with_the_true_number(reader: Browser) -> None:
    found = words(reader.get(f"{OUTPUT}&find=NEEDLE").text)
    assert "1 line with it" in found and "line 2499" in found and "line 2490" not in found
    assert "2,500 lines with it" in words(reader.get(f"{OUTPUT}&find=line").text)
    assert "no line has it" in words(reader.get(f"{OUTPUT}&find=nowhere").text)
    assert "<script>alert" not in reader.get(f"{OUTPUT}&find=%22%3E%3Cscript%3Ealert").text


def test_the_leg_has_the_same_search(reader: Browser) -> None:
    shown = reader.get(f"/runs/{RUN}/{SYSTEM}?step=patch&find=needle").text
    assert "1 line with it" in words(shown)


@given(st.lists(st.text(st.characters(exclude_characters="\n"), max_size=3), max_size=30), st.integers(1, 8))
def test_pages_of_an_output_have_every_line_once(lines: list[str], most: int) -> None:
    text = "\n".join(lines)
    whole = output_lines(text, 10**6)["rows"]
    found: list[Any] = []
    page = output_lines(text, most)
    found = page["rows"]
    while page["skipped"]:
        page = output_lines(text, most, end=page["skipped"] + 1)
        found = [*page["rows"], *found]
    assert found == whole


@given(st.lists(st.sampled_from(["a", "B", "b c", "", "d"]), max_size=40), st.sampled_from(["b", "C", "x"]))
def test_hits_are_counted_over_the_whole(lines: list[str], word: str) -> None:
    found = found_lines("\n".join(lines), word)
    kept = "\n".join(lines).rstrip("\n").split("\n")
    assert found["hits"] == sum(word.lower() in line.lower() for line in kept)
    assert all(kept[number - 1] == line for number, line in found["rows"])
    assert len(found["rows"]) <= MOST_LINES


def test_only_what_runs_can_be_followed(busy: Running, reader: Browser) -> None:
    assert 'class="follow"' not in reader.get(OUTPUT).text
    with busy.database.read() as connection:
        query = "SELECT leg, action FROM chain_steps WHERE status = 'running' AND leg LIKE ?"
        row = connection.exec_driver_sql(query, (f"{RUN}.%",)).first()
    assert row is not None
    shown = reader.get(f"/runs/{RUN}/{row.leg.removeprefix(RUN + '.')}/output?step={row.action}")
    assert 'class="follow"' in shown.text


# -- a system ---------------------------------------------------------------------------------------------


def start(at: float, boot: str) -> dict[str, Any]:
    return {"at": at, "data": {"boot": boot}}


def test_a_boot_is_another_boot_id_and_may_be_part_of_a_run() -> None:
    now = 2 * YEAR
    starts = [start(now - 500, "c"), start(now - 900, "b"), start(now - 800, "b"), start(now - 1000, "a")]
    legs = [{"run": "r1", "chain": "os-patch", "begun": now - 950, "ended": now - 850}]
    found = boots([*starts, {"at": now, "data": {}}], legs, now)
    assert [(one["at"], one["run"]) for one in found["rows"]] == [(now - 900, "r1"), (now - 500, "")]
    assert found["unplanned"] == 1
    assert boots([], [], now)["rows"] == []


def test_a_name_with_signs_of_a_pattern_means_itself() -> None:
    from fnmatch import fnmatchcase

    for name in ("web[1]", "a*b", "q?"):
        assert fnmatchcase(f"salt/minion/{name}/start", f"salt/minion/{glob_free(name)}/start")
        assert not fnmatchcase("salt/minion/web1/start", f"salt/minion/{glob_free(name)}/start")


def test_the_page_of_a_system_has_its_boots(busy: Running, reader: Browser) -> None:
    now = time.time()
    rows = [
        NewEvent(tag=f"salt/minion/{SYSTEM}/start", data={"boot": boot}, at=now - ago, system=SYSTEM)
        for boot, ago in (("one", 9e6), ("two", 8e6), ("two", 7e6), ("three", 6e6))
    ]
    assert "none is known" in words(reader.get("/systems/web-0002.fra").text)
    with busy.database.write() as connection:
        store_events(connection, rows)
    assert "Boots, 12 months 2, of which 2 were not part of a run" in words(
        reader.get(f"/systems/{SYSTEM}").text
    )


def test_drift_is_what_the_newest_test_would_change(busy: Running, reader: Browser) -> None:
    assert "not been tested for drift yet" in words(reader.get(f"/systems/{SYSTEM}").text)
    now = time.time()
    states = {
        "file_|-motd_|-/etc/motd_|-managed": {
            "result": None,
            "comment": "would be changed",
            "changes": {"a": 1},
        },
        "pkg_|-vim_|-vim_|-installed": {"result": True, "comment": "is there", "changes": {}},
    }
    add_job(busy.database, "20261116000000000001", (SYSTEM,), now=now, test=True)
    add_return(busy.database, "20261116000000000001", SYSTEM, encode(states))
    text = words(reader.get(f"/systems/{SYSTEM}").text)
    assert "motd would change" in text and "vim" not in text.partition("Drift")[2].partition("Facts")[0]


# -- targets ----------------------------------------------------------------------------------------------


def test_a_target_is_saved_under_a_name_and_taken_away_as_a_file(boss: Browser, busy: Running) -> None:
    page = "/systems?t=web-000*"
    assert 'id="save-target"' in boss.get(page).text
    done = boss.act(page, "/systems/targets", {"name": "few", "target": "web-000*"})
    assert (done.status, done.header("location")) == (
        303,
        "/systems?t=%40few&did=The%20target%20is%20saved",
    )
    assert "@few" in boss.get("/systems?t=%40few").text
    add_fleet(busy.database, ["few-1"], role='=HYPERLINK("x")')
    sent = boss.get("/export/systems?t=few-1%20or%20%40few")
    assert sent.header("content-type").startswith("text/csv")
    assert sent.header("content-disposition") == 'attachment; filename="systems.csv"'
    rows = list(csv.DictReader(io.StringIO(sent.text)))
    assert {one["id"] for one in rows} >= {"few-1", "web-0001.fra"}
    assert next(one for one in rows if one["id"] == "few-1")["role"] == '\'=HYPERLINK("x")'
    assert boss.get("/export/systems?t=(").status == 422, "what is wrong with the question is a page"


@given(st.text())
def test_no_cell_is_a_formula(text: str) -> None:
    assert not plain_cell(text).startswith(FORMULA)


def test_an_action_and_a_target_are_taken_along_to_the_chains(boss: Browser) -> None:
    shown = boss.get("/chains?target=web*").text
    assert "?target=web" in shown and "is to run on" in shown
    action = boss.get("/command?target=*&run=cmd.run%20uptime").text
    (link,) = re.findall(r'href="(/chains\?add=[^"]+)"', action)
    listed = boss.get(link.replace("&amp;", "&")).text
    edits = re.findall(r'href="(/chains/[^"/]+/edit\?add=[^"]+)"', listed)
    assert edits and "uptime" in boss.get(edits[0].replace("&amp;", "&")).text
    assert boss.get("/chains?add=nonsense").status == 200


def test_a_ready_plan_shows_what_each_state_would_change(busy: Running, boss: Browser) -> None:
    add_chain_run(busy.database, "planned", "web-0016.fra")
    add_chain_plan(busy.database, "planned", "web-0016.fra")
    shown = boss.get("/plans/planned")
    assert shown.status == 200, shown.text[-2000:]
    text = words(shown.text)
    assert "1 would change" in text and "+is now" in text and "-was &lt;b&gt;" in text and "motd" in text
    assert "could not be asked" in text and "Run on 1 system" in text
    assert boss.get("/plans/planned?group=1").status == 200


def test_the_builder_says_how_long_an_action_usually_takes(busy: Running, boss: Browser) -> None:
    name = busy.client().chain_runs.get(RUN)["chain"]
    usual = busy.client().chains.usual(name)
    assert usual["actions"], usual
    assert "half of the last attempts took at most this long" in boss.get(f"/chains/{name}/edit").text


# -- all pages --------------------------------------------------------------------------------------------

LISTS = [page for page in PAGES if page.topic.startswith("list/")]


@pytest.mark.parametrize("page", LISTS, ids=lambda one: one.path)
def test_a_list_knows_what_it_shows_so_that_news_can_be_offered(boss: Browser, page: Any) -> None:
    text = boss.get(page.path).text
    assert 'id="part-list-mark"' in text and 'id="changed"' in text and "data-watch" in text
    assert page.topic in text


def test_every_list_is_watched() -> None:
    assert {page.path for page in LISTS} == {"/systems", "/runs", "/jobs", "/events", "/chains"}


def test_a_mark_changes_with_its_rows() -> None:
    assert mark_of([("a", 1)]) != mark_of([("a", 2)]) != mark_of([("a", 2), ("b", 1)])


def test_a_broken_audit_is_on_every_page(busy: Running, boss: Browser, reader: Browser) -> None:
    with busy.database.write() as connection:
        row = connection.exec_driver_sql("SELECT who FROM audit WHERE number = 2").scalar()
        connection.exec_driver_sql("UPDATE audit SET who = 'mallory' WHERE number = 2")
    try:
        boss.get("/admin/audit")  # whoever looks at it, or the next look of the controller itself
        for path in ("/", "/systems", "/account", "/chains", "/nothing-here"):
            assert "The audit is broken: row 2 was changed" in words(boss.get(path).text), path
        assert "Ask an admin" in reader.get("/").text
    finally:
        with busy.database.write() as connection:
            connection.exec_driver_sql("UPDATE audit SET who = ? WHERE number = 2", (row,))
    boss.get("/admin/audit")
    assert "The audit is broken" not in boss.get("/").text


def test_the_controller_looks_at_the_audit_by_itself(busy: Running) -> None:
    from saltern.fleet.console.audit_watch import AuditWatch

    desk = busy.server.app.desk

    async def look() -> str:
        watch = AuditWatch(desk)
        assert watch.current_problem() == "", "no page waits for it"
        assert watch._task is not None
        await watch._task
        return watch.current_problem()

    with busy.database.write() as connection:
        row = connection.exec_driver_sql("SELECT who FROM audit WHERE number = 2").scalar()
        connection.exec_driver_sql("UPDATE audit SET who = 'mallory' WHERE number = 2")
    try:
        assert "row 2 was changed" in busy.run(look())
    finally:
        with busy.database.write() as connection:
            connection.exec_driver_sql("UPDATE audit SET who = ? WHERE number = 2", (row,))
    assert busy.run(look()) == ""
