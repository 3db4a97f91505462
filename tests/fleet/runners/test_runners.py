"""Runners and wheel functions against the API of a controller, in the shapes that Salt answers with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.api.kit import Running, add_job, add_return, add_system, running_api

from saltern.fleet.client.client import Client
from saltern.fleet.runners.table import RUNNERS, WHEEL, about, names, run_runner, run_wheel, unknown_name
from saltern.language.diagnostics import OperationError

STATES = (
    b'{"local": {"test_|-a_|-a_|-nop": {"result": true, "changes": {}, "comment": "", "__run_num__": 0}}}'
)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Running]:
    with running_api(tmp_path) as running:
        for id_ in ("db1", "web1"):
            add_system(running.database, id_)
        for id_ in ("new1", "new2"):
            add_system(running.database, id_, accept=False)
        add_job(running.database, "20261116T100000.1", ("db1", "web1"))
        add_return(running.database, "20261116T100000.1", "web1", STATES)
        add_job(running.database, "20261116T100001.1", ("web1",), now=20.0, function="test.echo", args=["x"])
        add_return(running.database, "20261116T100001.1", "web1", b'"x"')
        yield running


@pytest.fixture
def ask(api: Running) -> Client:
    return api.client()


def test_what_systems_returned(ask: Client) -> None:
    found = run_runner("jobs.lookup_jid", ["20261116T100001.1"], {}, ask)
    assert found == {"web1": "x"}
    states = run_runner("jobs.lookup_jid", ["20261116T100000.1"], {"missing": True}, ask)
    assert isinstance(states, dict)
    assert states["outputter"] == "highstate"
    assert states["data"]["db1"] == "Minion did not return"
    assert list(states["data"]["web1"]) == ["test_|-a_|-a_|-nop"]


def test_jobs_are_listed_by_what_they_are(ask: Client) -> None:
    listed = run_runner("jobs.list_jobs", [], {"search_function": "test.*"}, ask)
    assert isinstance(listed, dict)
    assert list(listed) == ["20261116T100001.1"]
    assert listed["20261116T100001.1"]["Function"] == "test.echo"
    last = run_runner("jobs.last_run", [], {"function": "state.apply"}, ask)
    assert isinstance(last, dict)
    assert last["20261116T100000.1"]["Minions"] == ["db1", "web1"]
    assert run_runner("jobs.last_run", [], {"function": "no.such"}, ask) is False
    assert run_runner("jobs.exit_success", ["20261116T100000.1"], {}, ask) == {"db1": False, "web1": True}
    active = run_runner("jobs.active", [], {}, ask)
    assert isinstance(active, dict)
    assert list(active) == ["20261116T100000.1"]
    assert active["20261116T100000.1"]["Returned"] == ["web1"]


def test_a_job_that_is_not_there(ask: Client) -> None:
    found = run_runner("jobs.list_job", ["1"], {}, ask)
    assert isinstance(found, dict)
    assert found["Error"] == "Cannot contact returner or no job with this jid"


def test_grains_that_systems_have_reported(ask: Client) -> None:
    assert run_runner("cache.grains", ["web*"], {}, ask) == {"web1": {"os": "Debian"}}
    found = run_runner("cache.grains", ["os:Debian"], {"tgt_type": "grain"}, ask)
    assert isinstance(found, dict)
    assert sorted(found) == ["db1", "web1"]
    assert run_runner("cache.grains", ["mail*"], {}, ask) == {}


def test_keys(ask: Client) -> None:
    assert run_wheel("key.list", ["acc"], {}, ask) == {"minions": ["db1", "web1"]}
    assert run_wheel("key.list", ["un"], {}, ask) == {"minions_pre": ["new1", "new2"]}
    assert run_wheel("key.name_match", ["*1"], {}, ask) == {
        "minions": ["db1", "web1"],
        "minions_pre": ["new1"],
    }
    fingers = run_wheel("key.finger", ["web1"], {}, ask)
    assert fingers == {"minions": {"web1": "SHA256:web1"}}
    everything = run_wheel("key.list_all", [], {}, ask)
    assert isinstance(everything, dict)
    assert everything["minions_pre"] == ["new1", "new2"]


def test_arguments_of_others_are_refused_before_anything_is_done(ask: Client) -> None:
    with pytest.raises(OperationError, match=r"manage.down cannot be called"):
        run_runner("manage.down", [], {"remove": True}, ask)
    with pytest.raises(OperationError, match=r"did you mean 'manage.up'"):
        run_runner("manage.uo", [], {}, ask)
    with pytest.raises(OperationError, match="no wheel function is called"):
        run_wheel("manage.up", [], {}, ask)


def test_words_that_salt_adds_are_left_out(ask: Client) -> None:
    given = {"a": 1, "__pub_user": "root", "__orchestration_jid__": "1"}
    assert run_runner("test.arg", ["x"], given, ask) == {"args": ["x"], "kwargs": {"a": 1}}


@pytest.mark.parametrize("table", [RUNNERS, WHEEL])
def test_every_runner_says_what_it_does(table: dict[str, str]) -> None:
    found = names(table)
    assert len(found) > 5
    assert [name for name in found if not about(name, table)] == []


def test_what_needs_a_process_says_so(ask: Client) -> None:
    with pytest.raises(OperationError, match=r"state.orchestrate cannot be run here"):
        run_runner("state.orchestrate", ["web"], {}, ask)


def test_a_name_that_is_none_is_reported_before_it_is_run() -> None:
    assert "did you mean 'state.orchestrate'" in unknown_name("runner", "state.orchestrat")
    assert "did you mean 'key.accept'" in unknown_name("wheel", "key.acept")
    assert "no wheel function" in unknown_name("wheel", "own.thing")
    assert not unknown_name("runner", "own.thing"), "it may be one of the user's own"
    assert not unknown_name("runner", "manage.up")


def test_an_event_is_sent_once_for_a_step_and_names_its_cause(ask: Client) -> None:
    """An orchestration that was killed after it, and resumed, runs the step again."""
    for _ in range(2):
        assert run_runner("event.send", ["shop/done"], {"data": {"n": 1}}, ask, jid="j1", token="step 1")
    assert run_runner("event.send", ["shop/done"], {}, ask, jid="j1", token="step 2")
    assert len(list(ask.events(tag="shop/done"))) == 2
