"""A real fleet: jobs of systems for each other (`publish`), events of states, and runners about both."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.orchestration.kit import Site, site

from saltern.cli.local_fleet import CONFIG

PEER = """
peer:
  web1:
    - test.*
    - state.*
    - db2:
      - cmd.run:
          args: [echo]
peer_run:
  web1:
    - manage.up
    - state.orchestrate
    - test.arg
    - jobs.*
"""
FILES = {
    "template.sls": "{% set found = salt['publish.publish']('db*', 'test.echo', 'hello', timeout=60) %}\n"
    "{% for id, up in found | dictsort %}\n{{ id }} says {{ up }}:\n  test.nop\n{% endfor %}\n",
    "told.sls": "one:\n  test.succeed_with_changes:\n    - fire_event: shop/done\n\n"
    "two:\n  test.nop:\n    - fire_event: true\n\nthree:\n  test.nop\n\n"
    "hidden:\n  test.configurable_test_state:\n    - name: open sesame\n    - no_log: true\n",
    "plain.sls": "first:\n  test.succeed_with_changes\n",
    "orch/one.sls": "ping:\n  salt.function:\n    - name: test.ping\n    - tgt: db1\n",
}


ROLLOUT = Path(__file__).parents[3] / "examples" / "rollout"
FILES |= {
    str(path.relative_to(ROLLOUT / "states")): path.read_text(encoding="utf-8")
    for path in (ROLLOUT / "states").rglob("*.sls")
}


@pytest.fixture(scope="module")
def fleet() -> Iterator[Site]:
    config = CONFIG + PEER + (ROLLOUT / "controller.yaml").read_text(encoding="utf-8")
    with site(("web1", "db1", "db2"), FILES, config=config, SALTERN_STATE_EVENTS="true") as found:
        yield found


def events_of(client: Any, tag: str, least: int) -> list[Any]:
    """Events with such tags, once there are so many of states: they follow the return of their job."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = client.session.get("/v1/events", after="0", tag=tag, limit=500)["items"]
        if sum("prog" in one["tag"] or "state_result" in one["tag"] for one in found) >= least:
            return list(found)
        time.sleep(0.1)
    raise AssertionError(found)


def answer(site_: Site, *words: str) -> Any:
    """What a runner answers."""
    return site_.data("runner", *words)["local"]


def called(site_: Site, system: str, *words: str) -> Any:
    done = site_.run("call", *words, "--on", system, "--out", "json")
    assert done.stdout, done
    return json.loads(done.stdout)[system]


def test_a_function_is_called_on_other_systems(fleet: Site) -> None:
    found = called(fleet, "web1", "publish.publish", "*", "test.arg", "[1, k=two]", "timeout=60")
    assert found == {key: {"args": [1], "kwargs": {"k": "two"}} for key in ("web1", "db1", "db2")}
    echoed = called(fleet, "web1", "publish.full_data", "db1,db2", "test.echo", "x", "list", "timeout=60")
    assert echoed == {"db1": {"ret": "x"}, "db2": {"ret": "x"}}
    states = called(fleet, "web1", "publish.full_data", "db1", "state.apply", "plain", "timeout=60")
    assert states["db1"]["out"] == "highstate"
    assert [one["result"] for one in states["db1"]["ret"].values()] == [True]


def test_a_state_file_uses_what_other_systems_answer(fleet: Site) -> None:
    done = fleet.run("apply", "template", "--on", "web1", "--out", "json")
    rows = json.loads(done.stdout)["web1"]
    assert sorted(one["__id__"] for one in rows.values()) == ["db1 says hello", "db2 says hello"]
    jobs = fleet.data("jobs")
    mine = [one for one in jobs if one["user"] == "system:web1"]
    assert mine, jobs


def test_only_what_is_allowed_is_called(fleet: Site) -> None:
    assert called(fleet, "db1", "publish.publish", "*", "test.ping") == {}
    assert called(fleet, "web1", "publish.publish", "db2", "cmd.run", "echo hi", "timeout=60") == {
        "db2": "hi"
    }
    assert called(fleet, "web1", "publish.publish", "db1", "cmd.run", "echo hi") == {}
    assert called(fleet, "web1", "publish.publish", "db2", "cmd.run", "id") == {}
    assert called(fleet, "web1", "publish.publish", "*", "publish.runner", "manage.up") == {}
    assert called(fleet, "web1", "publish.publish", "none*", "test.ping") == {}
    with fleet.fleet.client() as client:
        alarms = client.session.get("/v1/events", after="0", tag="saltern/alarm")["items"]
    assert {(one["system"], one["data"]["reason"]) for one in alarms} == {("web1", "peer"), ("db1", "peer")}


def test_a_runner_is_run_on_the_controller(fleet: Site) -> None:
    assert sorted(called(fleet, "web1", "publish.runner", "manage.up")) == ["db1", "db2", "web1"]
    assert called(fleet, "web1", "publish.runner", "test.arg", "[a, k=1]") == {
        "args": ["a"],
        "kwargs": {"k": 1},
    }
    assert called(fleet, "db1", "publish.runner", "manage.up") == {}
    assert called(fleet, "web1", "publish.runner", "manage.down") == {}
    found = called(fleet, "web1", "publish.runner", "state.orchestrate", "orch.one")
    assert found["retcode"] == 0


def test_events_of_states_have_salts_tags_and_data(fleet: Site) -> None:
    done = fleet.run("apply", "told", "--on", "db1", "--out", "json")
    rows = {one["__id__"]: one for one in json.loads(done.stdout)["db1"].values()}
    with fleet.fleet.client() as client:
        jid = next(one["jid"] for one in client.jobs.list() if one["function"] == "state.apply")
        events = events_of(client, f"salt/*/{jid}/*", 4)
    found = {one["tag"]: one["data"] for one in events if one["system"] == "db1"}
    assert [tag.partition(jid)[2] for tag in found if "/ret/" not in tag] == [
        "/db1/shop/done",
        "/db1/two",
        "/prog/db1/2",
        "/prog/db1/3",
    ]
    first, last = found[f"salt/state_result/{jid}/db1/shop/done"], found[f"salt/job/{jid}/prog/db1/3"]
    assert {"cmd", "data", "id", "jid", "pretag", "tag"} <= first.keys()
    assert (first["jid"], first["id"]) == (jid, "db1")
    assert first["data"] == {"ret": rows["one"]}
    assert last["data"]["len"] == 4
    assert "sesame" not in json.dumps(events)


def test_rows_of_the_reactor_are_added_and_deleted_as_in_salt(fleet: Site) -> None:
    (usual,) = answer(fleet, "reactor.list")
    added = answer(fleet, "reactor.add", "shop/*", "reactors=/srv/reactor/shop.sls")
    assert added == {"status": True, "comment": "Reactor added."}
    again = answer(fleet, "reactor.add", "shop/*", "[/srv/other.sls]")
    assert again == {"status": False, "comment": "Reactor already exists."}
    assert answer(fleet, "reactor.list") == [usual, {"shop/*": ["/srv/reactor/shop.sls"]}]
    assert answer(fleet, "reactor.delete", "shop/*") == {"status": True, "comment": "Reactor deleted."}
    gone = answer(fleet, "reactor.delete", "shop/*")
    assert gone == {"status": False, "comment": "Reactor does not exists."}
    assert answer(fleet, "reactor.is_leader") is True
    assert answer(fleet, "reactor.set_leader") is True
    refused = fleet.run("runner", "reactor.set_leader", "false")
    assert refused.returncode != 0
    assert "they agree on one by themselves" in refused.stderr


def test_a_runner_waits_for_events_and_prints_them(fleet: Site) -> None:
    command = fleet.command("runner", "state.event", "shop/*", "count=2")
    with subprocess.Popen(command, env=fleet.env, cwd=fleet.base, stdout=subprocess.PIPE, text=True) as waits:
        try:
            while waits.poll() is None:  # it hears what happens after it has connected
                fleet.run("events", "send", "shop/done", "{version: 7}")
                fleet.run("events", "send", "other/done")
            lines = (waits.stdout.read() if waits.stdout else "").splitlines()
        finally:
            waits.kill()
    assert waits.returncode == 0
    assert [line.split("\t")[0] for line in lines] == ["shop/done", "shop/done"]
    assert json.loads(lines[0].split("\t")[1])["version"] == 7


def test_the_rollout_of_the_example_uses_the_answer_of_a_system(fleet: Site, tmp_path: Path) -> None:
    words = ("orch.rollout", "--pillar", f"{{target: {tmp_path}}}")
    code, rehearsed = fleet.orchestrate(*words, "--test")
    assert (code, list(tmp_path.iterdir())) == (0, [])
    assert rehearsed["databases"]["result"] is None
    rows = fleet.data("orchestrate", *words)["local"].values()
    done = {one["__id__"]: one for one in sorted(rows, key=lambda row: row["__run_num__"])}
    assert all(one["result"] for one in rows), done
    parts = ["databases", "where the data is", "web servers", "what they have"]
    assert [name for name in done if name in parts] == parts
    assert done["what they have"]["changes"]["ret"] == {"web1": "database = db1\n"}
    assert {path.name for path in tmp_path.iterdir()} == {"db.conf", "web.conf"}


def test_an_event_starts_the_rollout_of_the_example(fleet: Site, tmp_path: Path) -> None:
    said = fleet.run("reactor", "test", "shop/release", f"{{target: {tmp_path}}}")
    assert "state.orchestrate" in said.stdout, said
    fleet.run("events", "send", "shop/release", f"{{target: {tmp_path}}}")
    until = time.monotonic() + 90
    while not (tmp_path / "web.conf").exists():
        assert time.monotonic() < until, fleet.data("jobs")
        time.sleep(0.2)
    assert (tmp_path / "web.conf").read_text() == "database = db1\n"
