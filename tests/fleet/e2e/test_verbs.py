"""The verbs with ``--on``, as a user types them: a real controller, real agents."""

from __future__ import annotations

import json
import signal
import subprocess
import xml.etree.ElementTree as ET

from tests.fleet.e2e.conftest import SYSTEMS, Place

from saltern.cli import exits


def test_all_answer_a_ping_and_equal_answers_are_printed_once(place: Place) -> None:
    done = place.run("call", "test.ping", "--on", "*")
    assert done.returncode == 0, done
    assert done.stdout == "db1, web1, web2 (3 systems):\n    True\n"


def test_a_target_selects(place: Place) -> None:
    assert place.data("call", "test.ping", "--on", "web* and not web2") == {"web1": True}


def test_arguments_arrive_with_their_types(place: Place) -> None:
    found = place.data("call", "test.arg", "1", "[a, b]", "k={x: null}", "--on", "web1")
    assert found["web1"]["args"] == [1, ["a", "b"]]
    assert found["web1"]["kwargs"] == {"k": {"x": None}}


def test_states_come_from_the_controller_and_a_second_time_nothing_changes(place: Place) -> None:
    fresh = place.base / "fresh"
    words = ("motd", "--on", "*", "--pillar", f"{{place: {fresh}}}")
    plan = place.run("plan", *words)
    assert plan.returncode == 0, plan
    assert plan.stdout.count("+This is") == 1  # equal but for the own name, so printed once
    assert plan.stdout.endswith("3 systems: 3 would change\n")
    first = place.run("apply", *words)
    assert first.returncode == 0, first
    assert first.stdout == "3 changed the same state: motd (db1, web1, web2)\n3 systems: 3 changed\n"
    texts = {name: (fresh / name / "motd").read_text() for name in SYSTEMS}
    assert texts == {name: f"This is {name}.\n" for name in SYSTEMS}
    again = place.run("apply", *words)
    assert again.stdout == "3 unchanged (db1, web1, web2)\n3 systems: 3 unchanged\n"


def test_a_failure_is_reported_with_its_line_and_the_worst_counts(place: Place) -> None:
    done = place.run("apply", "part", "--on", "*")
    assert done.returncode == exits.FAILED, done
    assert "1 failed: 'wrong' (test.fail_without_changes) – no disk (db1)" in done.stdout
    assert "salt://part.sls:3" in done.stdout
    assert "2 changed the same state: right (web1, web2)" in done.stdout
    assert "✗ db1: test.fail_without_changes wrong – no disk" in done.stderr


def test_states_that_do_not_compile_are_reported_once(place: Place) -> None:
    done = place.run("apply", "typo", "--on", "*", "--strict")
    assert done.returncode == exits.COMPILE, done
    assert done.stdout.count("test.nopp") == 1


def test_a_test_run_changes_nothing(place: Place) -> None:
    done = place.run("apply", "broken", "--test", "--on", "web1", "--out", "json")
    assert set(json.loads(done.stdout)) == {"web1"}


def test_formats_for_scripts(place: Place) -> None:
    words = ("apply", "part", "--on", "*", "--out")
    human = place.run(*words, "highstate")
    assert human.returncode == exits.FAILED
    assert [line for line in human.stdout.splitlines() if line.startswith("Summary for ")] == [
        f"Summary for {name}" for name in SYSTEMS
    ]
    suites = ET.fromstring(place.run(*words, "junit").stdout)
    assert [suite.get("name") for suite in suites] == [f"{name}: part" for name in SYSTEMS]
    lines = [json.loads(line) for line in place.run(*words, "jsonl").stdout.splitlines()]
    assert lines[0]["event"] == "submitted" and lines[-1] == {
        **lines[-1],
        "event": "finished",
        "exit_code": 2,
    }
    assert sorted(line["system"] for line in lines if line["event"] == "return") == list(SYSTEMS)


def test_one_state_without_a_file(place: Place) -> None:
    target = place.base / "single"
    done = place.run("single", "file.touch", f"name={target}", "--on", "web1")
    assert done.returncode == 0 and target.exists(), done


def test_what_would_be_applied_is_shown(place: Place) -> None:
    found = place.data("show", "low-sls", "motd", "--on", "web1")
    assert [one["__id__"] for one in found["web1"]] == ["motd"]
    assert place.data("show", "pillar", "--on", "web1")["web1"]["place"] == str(place.base / "systems")


def test_pillar_of_the_command_line_reaches_the_states(place: Place) -> None:
    other = place.base / "elsewhere"
    done = place.run("apply", "motd", "--on", "web1", "--pillar", f"{{place: {other}}}")
    assert done.returncode == 0, done
    assert (other / "web1" / "motd").exists()


def test_runs_and_reports_of_all_systems(place: Place) -> None:
    place.run("apply", "motd", "--on", "*")
    runs = place.run("runs", "--on", "*")
    assert runs.returncode == 0, runs
    assert {line.split()[0] for line in runs.stdout.splitlines()[1:]} >= set(SYSTEMS)
    found = place.data("report", "last", "--on", "web1")
    assert [one["__id__"] for one in found["web1"].values()] == ["motd"]
    nothing = place.run("resume", "--on", "web1")
    assert nothing.returncode == 0, nothing


def test_options_of_this_machine_are_refused(place: Place) -> None:
    done = place.run("apply", "motd", "--on", "*", "--file-root", "/srv")
    assert done.returncode == exits.SURROUNDINGS
    assert "--file-root cannot be used with --on" in done.stderr
    done = place.run("call", "test.ping", "--on", "*", "--pillar", "{a: 1}")
    assert "--pillar cannot be used with --on" in done.stderr


def test_a_target_that_means_nothing_is_an_error_that_names_what_is_near(place: Place) -> None:
    done = place.run("call", "test.ping", "--on", "wbe1")
    assert done.returncode == exits.SURROUNDINGS
    assert "did you mean 'web1'?" in done.stderr


def test_a_detached_job_is_followed_later(place: Place) -> None:
    jid = place.run("apply", "motd", "--on", "*", "--detach").stdout.strip()
    done = place.run("job", jid, "--follow")
    assert done.returncode == 0, done
    assert done.stdout.splitlines()[-1].startswith("3 systems: 3 ")
    shown = place.run("job", jid, "--out", "highstate", "--system", "web1")
    assert "Summary for web1" in shown.stdout and "db1" not in shown.stdout
    assert jid in place.run("jobs").stdout


def test_an_interrupt_leaves_the_job_running_and_it_can_be_cancelled(place: Place) -> None:
    with subprocess.Popen(
        place.command("apply", "slow", "--on", "web1", "--out", "jsonl"),
        env=place.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None and running.stderr is not None
        jid = json.loads(running.stdout.readline())["jid"]
        for line in running.stdout:
            if json.loads(line)["event"] == "progress":
                break
        running.send_signal(signal.SIGINT)
        assert f"job {jid} continues" in running.stderr.read()
        assert running.wait() == exits.INTERRUPTED
    assert place.run("job", jid, "--cancel", "--follow").returncode == exits.INTERRUPTED


def test_a_batch_runs_on_a_few_at_a_time_and_a_failure_holds_back_the_rest(place: Place) -> None:
    done = place.run("apply", "motd", "--on", "*", "--batch", "1")
    assert done.returncode == 0, done
    assert "on 3 systems, 1 at a time" in done.stderr
    stopped = place.run("apply", "part", "--on", "*", "-b", "1", "--batch-failures", "0")
    assert stopped.returncode == exits.INTERRUPTED, stopped
    assert "2 cancelled: not begun: 1 of 3 systems failed before (web1, web2)" in stopped.stdout
    refused = place.run("apply", "motd", "--on", "*", "--batch", "none")
    assert refused.returncode == exits.SURROUNDINGS
    assert "batch must be a number from 1 on or a percentage: 'none'" in refused.stderr


def test_the_overview_and_the_lists(place: Place) -> None:
    assert place.run("fleet").stdout.startswith("3 systems: 3 here, 0 away\n")
    table = place.run("fleet", "systems", "web*").stdout.splitlines()
    assert [line.split()[:4] for line in table[1:]] == [
        ["web1", "agent", "accepted", "here"],
        ["web2", "agent", "accepted", "here"],
    ]
    assert (
        place.run("fleet", "facts", "web1", "id").stdout == "web1:\n    ----------\n    id:\n        web1\n"
    )
    assert "salt/auth" in place.run("events", "--after", "0", "--no-follow").stdout


def test_groups_are_targets(place: Place) -> None:
    assert place.run("fleet", "groups", "set", "canary", "web1 or db*").returncode == 0
    assert place.data("call", "test.ping", "--on", "@canary and not db*") == {"web1": True}
    assert "canary" in place.run("fleet", "groups").stdout
    assert place.run("fleet", "groups", "remove", "canary").returncode == 0
    assert "no groups" in place.run("fleet", "groups").stdout


def test_grains_and_modules_of_the_tree_reach_the_agents_and_are_targets(place: Place) -> None:
    place.fleet.write(
        "controller/salt/_grains/rack.py",
        "import socket\n\n\ndef rack():\n    return {'rack': {'row': 7, 'host': socket.gethostname()}}\n",
    )
    place.fleet.write(
        "controller/salt/_modules/shelf.py", "def where():\n    return __grains__['rack']['row']\n"
    )
    place.fleet.write(
        "controller/salt/_states/shelf.py",
        "def found(name):\n    return {'name': name, 'result': True, 'changes': {}, 'comment': 'seen'}\n",
    )
    assert place.data("call", "shelf.where", "--on", "*") == dict.fromkeys(SYSTEMS, 7)
    assert place.run("single", "shelf.found", "x", "--on", "web1").returncode == 0
    with place.fleet.client() as client:

        def have_it() -> bool:
            return sorted(client.systems.resolve("G@rack:row:7")) == sorted(SYSTEMS)

        place.fleet.wait("the grains of the tree", have_it)
    assert place.data("call", "test.ping", "--on", "G@rack:row:7 and web*") == {"web1": True, "web2": True}


def test_shells_complete_systems_groups_and_jobs(place: Place) -> None:
    def candidates(*words: str) -> list[str]:
        before = (words[0], "--controller", place.fleet.socket, *words[1:-1])
        return place.fleet.call("completion", "bash", "--words", *before, "--", words[-1]).stdout.split()

    jid = place.run("call", "test.ping", "--on", "web1", "--detach").stdout.strip()
    assert candidates("apply", "--on", "we") == ["web1", "web2"]
    assert candidates("fleet", "facts", "d") == ["db1"]
    assert candidates("fleet", "keys", "acc") == ["accept", "accepted"]
    assert jid in candidates("job", "2")
