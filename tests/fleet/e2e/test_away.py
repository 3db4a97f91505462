"""Systems that are away, come back, or may not take part any more."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator

import pytest
from tests.fleet.e2e.conftest import SYSTEMS, Place

from saltern.cli import exits


@pytest.fixture(name="whole")
def _whole(place: Place) -> Iterator[Place]:
    """The fleet, with all agents running after the test, too."""
    yield place
    for name in SYSTEMS:
        if not place.fleet.is_running(name):
            place.fleet.run_agent(name)
        wait_for(place, name, online=True)


def wait_for(place: Place, system: str, *, online: bool) -> None:
    with place.fleet.client() as client:
        place.fleet.wait("the presence", lambda: client.systems.get(system)["online"] is online)


def test_who_is_away_is_named_at_once_and_gets_the_job_later(whole: Place) -> None:
    whole.fleet.end("web2")
    wait_for(whole, "web2", online=False)
    assert whole.run("fleet").stdout.startswith("3 systems: 2 here, 1 away\n  away since ")
    done = whole.run("apply", "motd", "--on", "*")
    assert done.returncode == exits.AWAY, done
    assert "1 away: web2 since" in done.stderr and "--wait 0 to leave them out" in done.stderr
    assert "1 away (web2)" in done.stdout
    jid = done.stderr.partition("job ")[2].split()[0]
    left_out = whole.run("call", "test.ping", "--on", "*", "--wait", "0", "--out", "json")
    assert left_out.returncode == 0, left_out
    assert "web2" not in left_out.stdout
    assert "1 away and left out: web2 since" in left_out.stderr
    whole.fleet.run_agent("web2")
    later = whole.run("job", jid, "--follow")
    assert later.returncode == 0, later
    assert (whole.base / "systems" / "web2" / "motd").exists()


def test_those_who_are_away_are_waited_for_if_that_is_asked_for(whole: Place) -> None:
    whole.fleet.end("web2")
    wait_for(whole, "web2", online=False)
    done = whole.run("call", "test.ping", "--on", "web*", "--wait", "1")
    assert done.returncode == exits.AWAY, done
    assert "1 expired" in done.stdout


def test_a_revoked_system_is_gone_until_it_is_restored(whole: Place) -> None:
    assert whole.run("fleet", "keys", "revoke", "db1").stdout == "db1: revoked\n"
    assert set(whole.data("call", "test.ping", "--on", "*")) == {"web1", "web2"}
    assert "db1" in whole.run("fleet", "keys", "revoked").stdout
    assert whole.run("fleet", "keys", "restore", "db1").stdout == "db1: accepted again\n"
    whole.fleet.end("db1")
    wait_for(whole, "db1", online=False)  # it may have come back by itself, and left now
    whole.fleet.run_agent("db1")
    wait_for(whole, "db1", online=True)
    assert set(whole.data("call", "test.ping", "--on", "*")) == {"db1", "web1", "web2"}


def test_a_key_without_a_token_waits_for_a_person(whole: Place) -> None:
    token = whole.run("fleet", "tokens", "new").stdout.strip()
    assert whole.fleet.call("agent", "join", token, "--directory", "extra1", "--id", "extra1").returncode == 0
    join = ("agent", "join", token, "--directory", "extra2", "--id", "extra2", "--wait", "0")
    assert whole.fleet.call(*join).returncode != 0
    pending = whole.run("fleet", "keys", "pending").stdout
    assert "extra2" in pending and "extra1" not in pending
    assert "1 key to decide on: extra2" in whole.run("fleet").stdout
    assert whole.run("fleet", "keys", "accept", "extra2").stdout == "extra2: accepted\n"
    assert whole.fleet.call(*join).returncode == 0
    assert (
        whole.run("fleet", "keys", "remove", "extra1", "extra2").stdout
        == "extra1: removed\nextra2: removed\n"
    )


def test_a_controller_that_is_killed_meanwhile_is_found_again(whole: Place) -> None:
    with subprocess.Popen(
        whole.command("apply", "brief", "--on", "web*", "--out", "jsonl"),
        env=whole.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        while json.loads(running.stdout.readline())["event"] != "progress":
            pass
        whole.fleet.end("controller", how=signal.SIGKILL)
        whole.fleet.start_controller()
        lines, said = running.communicate(timeout=120)
    assert running.returncode == 0, said
    found = [json.loads(line) for line in lines.splitlines()]
    assert sorted(line["system"] for line in found if line["event"] == "return") == ["web1", "web2"]


def test_a_controller_that_is_gone_is_reported_with_what_to_do(whole: Place) -> None:
    done = whole.run("fleet", "--controller", str(whole.base / "nowhere.sock"))
    assert done.returncode == exits.SURROUNDINGS
    assert "cannot be reached" in done.stderr and "fix:" in done.stderr
