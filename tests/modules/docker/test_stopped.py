"""``docker_container.stopped``, ``absent`` and ``run`` with a real engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.modules.bench import Bench

from saltern.language.result import Outcome
from saltern.modules.lib.containers.engine import Engine

pytestmark = pytest.mark.machine

NAME, IMAGE = "saltern-t-web", "busybox:1.36"


@pytest.fixture
def running(containers: Bench) -> Bench:
    for name in (NAME, f"{NAME}-2"):
        done = containers.call("running", name, image=IMAGE, command="sleep 600", stop_signal="SIGKILL")
        assert done.outcome is Outcome.OK, done
    return containers


def test_a_container_is_stopped(running: Bench, engine: Engine) -> None:
    done = running.change("stopped", NAME, shutdown_timeout=1)
    assert done.changes == {NAME: {"result": True, "state": {"old": "running", "new": "stopped"}}}
    assert running.call("stopped", NAME).data[NAME]["state"] == "stopped"  # type: ignore[index]
    key = engine.get(f"/containers/{NAME}-2/json")["Id"][:12]
    done = running.change("stopped", "all of them", containers=[NAME, key])
    assert list(done.changes) == [key]


def test_a_paused_container_is_stopped_only_on_demand(running: Bench, engine: Engine) -> None:
    engine.ask("POST", f"/containers/{NAME}/pause")
    assert "set unpause to True" in running.refusal("stopped", NAME)
    done = running.change("stopped", NAME, unpause=True, shutdown_timeout=1)
    assert done.changes[NAME] == {"result": True, "state": {"old": "paused", "new": "stopped"}}


def test_a_container_that_is_not_there_cannot_be_stopped(containers: Bench) -> None:
    assert "no such container: saltern-t-none" in containers.refusal("stopped", "saltern-t-none")
    containers.same("stopped", "saltern-t-none", error_on_absent=False)


def test_a_container_is_removed(running: Bench, engine: Engine) -> None:
    assert "set force to True" in running.refusal("absent", NAME)
    key = engine.get(f"/containers/{NAME}/json")["Id"]
    assert running.change("absent", NAME, force=True).changes == {"removed": [key]}
    engine.ask("POST", f"/containers/{NAME}-2/kill")
    running.change("absent", f"{NAME}-2")


def test_the_beginning_of_an_id_is_no_name(running: Bench, engine: Engine) -> None:
    key = engine.get(f"/containers/{NAME}/json")["Id"]
    running.same("absent", key[:4], force=True)


def test_a_watch_stops_and_runs_but_does_not_remove(running: Bench) -> None:
    assert running.react("stopped", NAME, shutdown_timeout=1).changes
    assert "cannot react to a watch" in running.react("absent", NAME).comment
    told = running.react("run", "saltern-t-once", image=IMAGE, command="echo hi", rm=True)
    assert told.changes["Logs"] == "hi\n"


def test_a_container_is_run_to_its_end(containers: Bench, engine: Engine, tmp_path: Path) -> None:
    given: dict[str, Any] = {"image": IMAGE, "command": "sh -c 'echo out; echo err >&2; touch /here/done'"}
    given |= {"binds": f"{tmp_path}:/here"}
    foreseen = containers.call("run", NAME, test=True, **given)
    assert foreseen.outcome is Outcome.WOULD_CHANGE and not (tmp_path / "done").exists()
    done = containers.call("run", NAME, **given)
    assert done.outcome is Outcome.OK, done
    assert (done.changes["Logs"], done.changes["ExitCode"]) == ("out\nerr\n", 0)
    assert (tmp_path / "done").exists()
    assert "set replace to True" in containers.refusal("run", NAME, **given)
    done = containers.call("run", NAME, replace=True, rm=True, stderr=False, **given)
    assert done.changes["Logs"] == "out\n"
    assert engine.get("/containers/json", {"all": True}) == []


def test_an_exit_code_is_a_failure_unless_it_may_be(containers: Bench) -> None:
    done = containers.call("run", NAME, image=IMAGE, command="sh -c 'exit 3'", rm=True)
    assert (done.outcome, done.data["exit_code"]) == (Outcome.FAILED, 3)
    done = containers.call("run", NAME, image=IMAGE, command="sh -c 'exit 3'", rm=True, failhard=False)
    assert done.outcome is Outcome.OK


def test_a_container_can_be_run_in_the_background(containers: Bench, engine: Engine) -> None:
    done = containers.call("run", NAME, image=IMAGE, command="sleep 600", bg=True, tty=True)
    assert done.outcome is Outcome.OK and done.changes["Name"] == NAME
    assert engine.get(f"/containers/{NAME}/json")["State"]["Running"]
    given: dict[str, Any] = {"image": IMAGE, "command": "true"}
    assert "set force to True" in containers.refusal("run", NAME, replace=True, **given)
    assert containers.call("run", NAME, replace=True, force=True, **given).outcome is Outcome.OK


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"image": None}, "the argument 'image' is missing"),
        ({"start": True}, "takes no start"),
        ({"comand": "true"}, "did you mean 'command'"),
    ],
    ids=str,
)
def test_bad_input_is_reported(given: dict[str, Any], why: str, containers: Bench, engine: Engine) -> None:
    assert why in containers.refusal("run", NAME, **{"image": IMAGE, **given})
    assert engine.get("/containers/json", {"all": True}) == []
