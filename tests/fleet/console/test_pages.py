"""Pages with real data: what they say, to whom, and that what others wrote stays text."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html import unescape

import pytest
from tests.fleet.api.kit import Running
from tests.fleet.console.data import add_fleet, add_run, demo
from tests.fleet.console.kit import Browser, running_console

from saltern.chains.statuses import Leg
from saltern.fleet.chains.model import StepPlan
from saltern.fleet.store.chain_outputs import put_outputs

RUN = "20261116024712000002"
AGAIN = "20261116024712000003"  # the one that is ordered about
HOSTILE = '"><script>alert(1)</script>\x1b[31m\u202e'


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("busy")) as running:
        demo(running.database, time.time())
        add_fleet(running.database, ["evil-1"], role=HOSTILE)
        legs = [("evil-1", "f", Leg.FAILED, HOSTILE)]
        plan = (StepPlan(id="a<b>", kind="command"),)
        text = "chain: evil\nactions:\n  - {id: 'a<b>', command: 'true'}\n"
        add_run(running.database, "evil-run", legs, at=time.time(), plan=plan, chain="evil<em>", text=text)
        again = [(f"web-{number:04}.fra", "cfnnn", Leg.FAILED, f"no {number}") for number in range(1, 5)]
        add_run(running.database, AGAIN, again, at=time.time() - 5)
        yield running


@pytest.fixture(scope="module")
def reader(busy: Running) -> Browser:
    made = Browser(busy)
    made.sign_in("viewer")
    return made


@pytest.fixture(scope="module")
def boss(busy: Running) -> Browser:
    made = Browser(busy)
    made.sign_in("admin")
    return made


def words(text: str) -> str:
    """The page as its reader sees it."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<svg.*?</svg>", " ", text)))


def test_the_overview_answers_the_four_questions(reader: Browser) -> None:
    text = words(reader.get("/").text)
    assert "11 systems failed or need a decision" in text
    assert re.search(r"4 failed at patch : E: Unable to fetch", text)
    assert "Waiting for a person" in text
    assert "Changed in the last 24 hours" in text


def test_a_run_shows_waves_causes_and_what_they_share(reader: Browser) -> None:
    text = words(reader.get(f"/runs/{RUN}").text)
    assert "Why 6 systems stand still 3 causes" in text
    assert "all have rack r14, the others have not" in text
    assert "Wave 3" in text
    assert "web-0015.fra" in text


def test_a_run_says_how_many_failures_halt_it(reader: Browser) -> None:
    assert "more than 62.5 % halt the run" in words(reader.get(f"/runs/{RUN}").text)


def test_a_run_as_it_was_has_no_action(boss: Browser) -> None:
    moments = boss.running.client().chain_runs.moments(RUN)
    begin = moments[0]["at"]
    shown = boss.get(f"/runs/{RUN}?at={begin + 1}")
    text = words(shown.text)
    assert "You see the run as it was at" in text
    assert "22 all" in text
    assert '<dialog id="cancel"' not in shown.text
    assert text.count("not run") >= 3 * 5, "three waves, each of one row"
    later = words(boss.get(f"/runs/{RUN}?at={begin + 17}").text)
    assert "running" in later


def test_each_system_and_a_filter(reader: Browser) -> None:
    each = reader.get(f"/runs/{RUN}?rows=each").text
    assert each.count('class="c ') == 22 * 5
    failed = words(reader.get(f"/runs/{RUN}?status=failed").text)
    assert "web-0016.fra" in failed
    assert "5 rows" in failed


def test_a_leg_shows_its_steps_and_what_the_failed_one_printed(reader: Browser) -> None:
    text = words(reader.get(f"/runs/{RUN}/web-0016.fra").text)
    assert "Output of patch failed" in text
    assert "exit 100" in text
    assert "Timeline" in text


def test_the_drawer_has_the_output_of_a_step(reader: Browser) -> None:
    shown = reader.get(f"/runs/{RUN}/web-0016.fra/output?step=patch")
    assert "404 Not Found" in words(shown.text)
    assert "<html" not in shown.text


def test_what_the_newest_attempt_printed_is_shown_where_it_is_stored(reader: Browser, busy: Running) -> None:
    rows = [
        {"leg": f"{RUN}.web-0017.fra", "step": 1, "attempt": attempt, "stream": stream, "data": text.encode()}
        | {"size": len(text), "cut": False}
        for attempt, stream, text in (
            (1, "stdout", "of the first attempt\n"),
            (2, "stdout", "Reading <lists>\n"),
            (2, "stderr", "no space left\n"),
        )
    ]
    with busy.database.write() as connection:
        put_outputs(connection, rows)
    shown = words(reader.get(f"/runs/{RUN}/web-0017.fra/output?step=patch").text)
    assert "Reading &lt;lists&gt;" in shown
    assert "no space left" in shown
    assert "of the first attempt" not in shown


def test_systems_are_listed_the_worst_first(reader: Browser) -> None:
    text = reader.get("/systems").text
    order = re.findall(r'href="/systems/([\w.-]+)"', text)
    assert order[0] in ("api-0002.ber", "web-0015.fra", "evil-1")
    assert order.index("web-0016.fra") < order.index("web-0009.fra") < order.index("web-0005.fra")


def test_a_target_narrows_and_an_unknown_fact_is_named(reader: Browser) -> None:
    assert "4 of 25 systems" in words(reader.get("/systems?t=G@site:ber").text)
    text = words(reader.get("/systems?t=G@sitee:ber").text)
    assert "No system has a fact &#39;sitee&#39;: did you mean &#39;site&#39;?" in text
    assert "An empty target never matches all systems" in text
    broken = reader.get("/systems?t=%28%28")
    assert broken.status == 200
    assert "fleet-target" in broken.text


def test_a_system_shows_what_holds_it(reader: Browser) -> None:
    text = words(reader.get("/systems/web-0016.fra").text)
    assert "os-patch is failed here at patch , 1 of 5 steps done" in text
    assert "kernelrelease 6.1.0-40" in text


def test_runs_are_listed_the_open_ones_first(reader: Browser) -> None:
    order = re.findall(r'href="/runs/([\w-]+)"', reader.get("/runs").text)
    assert order == ["evil-run", AGAIN, RUN, "20261116004712000001"]


@pytest.mark.parametrize(
    "path",
    ["/", "/runs", "/runs/evil-run", "/runs/evil-run?rows=each", "/runs/evil-run/evil-1", "/systems",
     "/systems/evil-1", "/runs/evil-run/evil-1/output", "/systems?t=%3Cscript%3Ealert(1)%3C/script%3E",
     "/runs/%3Cscript%3E", "/runs?chain=%22%3E%3Cscript%3E", "/runs/evil-run?status=%22%3E%3Cscript%3E"],
)  # fmt: skip
def test_what_others_wrote_is_text(reader: Browser, path: str) -> None:
    text = reader.get(path).text
    for bad in ("<script>", "<em>", "a<b>", "\x1b", "\u202e"):
        assert bad not in text, path


def test_a_viewer_sees_buttons_that_are_off_and_their_orders_are_refused(reader: Browser) -> None:
    text = reader.get(f"/runs/{RUN}").text
    assert re.search(r'data-open="cancel"[^>]* data-barred disabled title="needs a rule', text)
    for verb in ("pause", "retry", "cancel"):
        fields = {"verb": verb, "count": "6" if verb == "retry" else "10", "typed": "10", "reason": "x"}
        refused = reader.act("/account", f"/runs/{RUN}/orders", fields)
        assert refused.status == 403, refused.text[-500:]


def test_an_order_wants_the_number_that_is_meant_now(boss: Browser) -> None:
    wrong = boss.act("/account", f"/runs/{RUN}/orders", {"verb": "retry", "count": "7"}, hx_request="true")
    assert wrong.status == 409
    assert "it would now act on 6 systems, but the page showed 7" in wrong.text
    untyped = boss.act("/account", f"/runs/{RUN}/orders", {"verb": "cancel", "count": "10"})
    assert "the number that was typed is not 10" in untyped.text
    silent = boss.act("/account", f"/runs/{RUN}/orders", {"verb": "cancel", "count": "10", "typed": "10"})
    assert "no reason is given" in silent.text


def test_the_systems_of_a_cause_are_retried(boss: Browser) -> None:
    page = boss.get(f"/runs/{AGAIN}").text
    found = re.search(r'(?s)<dialog id="cause".*?</dialog>', page)
    button = re.search(r'<button [^>]*data-open="cause"[^>]*>', page)
    assert found is not None and button is not None
    fields = dict(re.findall(r'name="([a-z_]+)" value="([^"]*)"', found[0]))
    filled = dict(re.findall(r'data-(?:fill-)?(count|step|status|pattern)="([^"]*)"', button[0]))
    fields |= {name: unescape(value) for name, value in filled.items()}
    assert (fields["count"], fields["step"]) == ("4", "patch")
    done = boss.post(f"/runs/{AGAIN}/orders", fields)
    assert done.status == 303, done.text[-800:]
    again = boss.post(f"/runs/{AGAIN}/orders", fields)
    assert again.status in (303, 409), "a double click is one action"
    log = [*boss.running.client().chain_runs.log(AGAIN)]
    assert [one["what"] for one in log if one["who"] == "admin"] == ["retry"]


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("web-0016.fra", "/systems/web-0016.fra"),
        (RUN, f"/runs/{RUN}"),
        ("nothing", "/systems?t=%2Anothing%2A"),
        ("G@os:Debian", "/systems?t=G%40os%3ADebian"),
        ("//evil.test", "/systems?t=%2A%2F%2Fevil.test%2A"),
    ],
)
def test_a_word_leads_to_what_it_names(reader: Browser, word: str, place: str) -> None:
    from urllib.parse import quote

    sent = reader.get(f"/go?to={quote(word, safe='')}")
    assert (sent.status, sent.header("location")) == (303, place)
