"""What stands behind a failure: attempts, boots, what changed before it; and what can be done there."""

from __future__ import annotations

import re
import time
from html import unescape
from typing import Any

import pytest
from msgspec import json
from sqlalchemy import insert, select, update
from tests.fleet.api.kit import Running
from tests.fleet.console.data import add_fleet, add_run
from tests.fleet.console.kit import Browser

from saltern.chains.statuses import Leg, Run
from saltern.fleet.console.views.causes import changed_before, over_runs
from saltern.fleet.console.views.leg import timeline
from saltern.fleet.console.views.overview import headline
from saltern.fleet.store.chain_outputs import put_outputs
from saltern.fleet.store.chain_tables import CHAIN_ATTEMPTS, CHAIN_LEGS, CHAIN_RUNS
from saltern.fleet.store.tables import MANIFESTS, SYSTEMS, TREES

RUN, LEG = "20261116024712000011", "web1"


def add_all(running: Running) -> None:
    """Two failures of one cause, after files were published; one leg was tried twice, one system is away."""
    now = time.time()
    add_fleet(running.database, ["web1", "web2", "web3", "web4"])
    legs = [
        ("web1", "cfnnn", Leg.FAILED, "dpkg is locked"),
        ("web2", "cfnnn", Leg.FAILED, "dpkg is locked"),
        ("web3", "crnnn", Leg.RUNNING, ""),
        ("web4", "ccoco", Leg.SUCCEEDED, ""),
    ]
    add_run(running.database, RUN, legs, at=now - 100)
    leg = f"{RUN}.{LEG}"
    texts = {1: "of the first attempt\n", 2: "of the second attempt\n"}
    outputs = [
        {"leg": leg, "step": 1, "attempt": number, "stream": "stdout", "data": text.encode()}
        | {"size": len(text), "cut": False}
        for number, text in texts.items()
    ]
    files = {"digest": "9f3c2a1" + "0" * 57, "environment": "base", "files": 1, "size": 1, "data": b""}
    tree = {"environment": "base", "digest": files["digest"], "at": now - 330, "by": "anna"}
    with running.database.write() as connection:
        put_outputs(connection, outputs)
        first = {"leg": leg, "step": 1, "number": 2, "status": "failed", "comment": "again", "note": ""}
        connection.execute(insert(CHAIN_ATTEMPTS), [{**first, "started": now - 60, "ended": now - 50}])
        connection.execute(insert(MANIFESTS), [files])
        connection.execute(insert(TREES), [{**tree, "held": False, "current": True}])
        mine = CHAIN_LEGS.c.system == "web3"
        state = json.decode(connection.execute(select(CHAIN_LEGS.c.state).where(mine)).scalar_one())
        state |= {"away_since": now - 20, "back_by": now + 600}
        connection.execute(update(CHAIN_LEGS).where(mine).values(away=True, state=json.encode(state)))


def words(text: str) -> str:
    plain = re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<svg.*?</svg>", " ", text))
    return unescape(re.sub(r"\s+", " ", plain))


@pytest.mark.parametrize("page", ["", "/output"])
def test_each_attempt_has_its_output(viewer: Browser, page: str) -> None:
    path = f"/runs/{RUN}/{LEG}{page}?step=patch"
    newest = viewer.get(path).text
    assert "of the second attempt" in newest and "of the first attempt" not in newest
    links = re.findall(r'<a class="button" href="([^"]*attempt=\d)"', newest)
    assert [one[-1] for one in links] == ["1", "2"]
    first = viewer.get(f"{path}&attempt=1").text
    assert "of the first attempt" in first and "of the second attempt" not in first
    assert re.search(r'attempt=1"[^>]*aria-current="true"', first)
    assert 'name="attempt" value="1"' in first, "the search stays in it"
    assert "of the second attempt" in viewer.get(f"{path}&attempt=77").text, "there is no such attempt"


def test_a_leg_whose_system_is_away_says_since_when_and_when_it_is_due(viewer: Browser) -> None:
    text = words(viewer.get(f"/runs/{RUN}/web3").text)
    assert re.search(r"Its system is away since \d\d:\d\d:\d\d , and must be back by", text)
    assert "it may still be at work. Last record: running" in text


def test_boots_that_were_not_planned_stand_apart_on_the_line() -> None:
    leg: Any = {"begun": 100.0, "ended": 200.0, "status": "succeeded", "steps": []}
    boots = [{"planned": True, "at": 150.0}, {"planned": False, "at": 175.0}, {"planned": False, "at": 0.0}]
    line = timeline({**leg, "boots": boots}, [], 300.0)
    assert (line["cuts"], line["crashes"], len(line["boots"])) == ([50.0], [75.0], 2)


def test_what_was_published_shortly_before_a_cause_stands_beside_it(viewer: Browser) -> None:
    for path in ("/", f"/runs/{RUN}"):
        assert re.search(
            r"\d+ min( \d+ s)? after files 9f3c2a1 of base, by anna", words(viewer.get(path).text)
        )


@pytest.mark.parametrize(
    ("published", "said"),
    [([], ""), ([1001.0], ""), ([940.0, 10.0], "1 min after files aa of base, by anna"), ([-3000.0], "")],
)
def test_only_the_hour_before_counts(published: list[float], said: str) -> None:
    trees = [{"at": at, "digest": "aa", "environment": "base", "by": "anna"} for at in published]
    assert changed_before(1000.0, trees) == said
    assert changed_before(None, trees) == ""


def test_runs_are_listed_with_the_number_of_their_causes(viewer: Browser) -> None:
    text = viewer.get("/runs").text
    assert "Causes" in text
    row = next(one for one in text.split("<tr>")[1:] if f"/runs/{RUN}" in one)
    assert '<td class="num"><b>2</b></td><td class="num m-hide">1</td>' in row


def test_a_wave_of_the_matrix_says_how_many_are_done_and_names_can_be_taken_along(viewer: Browser) -> None:
    text = viewer.get(f"/runs/{RUN}").text
    assert '<td class="tail">1 of 4</td>' in text


def test_a_system_that_is_held_is_retried_from_its_own_page(console: Running, admin: Browser) -> None:
    name = "20261116024712000013"
    add_fleet(console.database, ["db2"])
    add_run(console.database, name, [("db2", "cfnnn", Leg.FAILED, "no space")], at=time.time() - 50)
    page = admin.get("/systems/db2").text
    shown = re.findall(r'data-order="(\w+)"[^>]*?>', page)
    assert shown == ["retry", "skip", "done"]
    assert '<span data-show="action">patch</span>' in page
    fields = {"verb": "skip", "action": "patch", "count": "1", "reason": "by hand"}
    done = admin.act("/systems/db2", f"/runs/{name}/db2/orders", fields)
    assert done.status == 303, done.text[-600:]
    log = [(one["what"], one["who"]) for one in console.client().chain_runs.log(name)]
    assert ("skip", "admin") in log


def test_silent_systems_are_broken_too(console: Running, viewer: Browser) -> None:
    assert headline(over_runs([], 8), 0.0, 2).startswith("2 systems silent")
    with console.database.write() as connection:
        mine = update(SYSTEMS).where(SYSTEMS.c.id == "web4")
        connection.execute(mine.values(online=False, seen_at=time.time() - 900))
    assert "silent : no answer, and no reboot is planned" in words(viewer.get("/").text)


def test_the_same_cause_in_several_runs_is_one_line_and_each_system_is_counted_once() -> None:
    def cause(run: str, step: str, systems: list[str], since: float) -> Any:
        fixed = {"status": "failed", "pattern": "no space", "message": "no space", "chain": "c", "waves": [1]}
        return {**fixed, "run": run, "step": step, "systems": systems, "count": len(systems), "since": since}

    items = [
        cause("r1", "a", ["s1", "s2"], 5.0),
        cause("r2", "a", ["s2", "s3"], 3.0),
        cause("r2", "b", ["s1"], 9.0),
    ]
    found = over_runs(items, 1)
    assert [(one["step"], one["count"], one["since"], len(one["runs"])) for one in found["items"]] == [
        ("a", 3, 3.0, 2)
    ]
    assert (found["systems"], found["runs"], found["more"], found["more_systems"]) == (3, 2, 1, 1)
    said = headline(found, 10.0)
    assert said.startswith("3 systems failed or need a decision, for 2 reasons, in 2 runs")


def test_a_halted_run_says_why_and_who_may_resume_it(console: Running, viewer: Browser) -> None:
    """The reason is the controller's; the status is set beside it, as a halt sets it."""
    name = "20261116024712000012"
    add_fleet(console.database, ["db1"])
    add_run(console.database, name, [("db1", "cfnnn", Leg.FAILED, "no space")], status=Run.HALTED)
    with console.database.write() as connection:
        mine = CHAIN_RUNS.c.id == name
        connection.execute(update(CHAIN_RUNS).where(mine).values(halted="1 of 1 failed, more than 0"))
    text = words(viewer.get(f"/runs/{name}").text)
    assert "Halted: 1 of 1 failed, more than 0. Operators whom the policy lets order" in text
