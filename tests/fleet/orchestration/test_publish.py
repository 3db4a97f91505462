"""`publish` with real agents: jobs that a system asks for, by hand and in its state files."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
    "plain.sls": "first:\n  test.succeed_with_changes\n",
    "orch/one.sls": "ping:\n  salt.function:\n    - name: test.ping\n    - tgt: db1\n",
}


@pytest.fixture(scope="module")
def fleet() -> Iterator[Site]:
    with site(("web1", "db1", "db2"), FILES, config=CONFIG + PEER) as found:
        yield found


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
