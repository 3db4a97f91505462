"""A chain on many systems, as a user types it: a real controller, real agents."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections import Counter

import pytest
from tests.fleet.e2e.conftest import Place
from tests.fleet.e2e.terminal import at_terminal

from saltern.cli import exits

CHAIN = """\
chain: nightly
id: 123
actions:
  - {id: A1, command: 'echo x >> BASE/A1', targets: [web1]}
  - {id: A3, state: {sls: motd}}
  - {id: A4, command: 'test web2 != NAME', targets: ['web*']}
  - {id: A5, command: 'echo x >> BASE/A5', targets: ['web*']}
"""


def write(place: Place, text: str, name: str = "nightly.yaml") -> str:
    (place.base / name).write_text(text.replace("BASE", str(place.base)))
    return name


def test_one_chain_for_many_systems_with_a_status_for_each_action_on_each(place: Place) -> None:
    name = write(place, CHAIN.replace("test web2 != NAME", f"test ! -e {place.base}/stop"))
    done = place.run("chain", "run", name, "--on", "*")
    assert done.returncode == 0, done
    assert done.stdout.splitlines()[-1] == "3 systems: 3 succeeded"
    assert (place.base / "A1").read_text() == "x\n"
    assert (place.base / "A5").read_text() == "x\nx\n"

    (place.base / "stop").touch()
    done = place.run("chain", "run", name, "--on", "*", "--out", "json")
    assert done.returncode == exits.FAILED, done
    found = json.loads(done.stdout)
    steps = {system: {row["action"]: row["status"] for row in leg["steps"]} for system, leg in found.items()}
    assert steps == {
        "db1": {"A3": "succeeded"},
        "web1": {"A1": "succeeded", "A3": "succeeded", "A4": "failed", "A5": "not run"},
        "web2": {"A3": "succeeded", "A4": "failed", "A5": "not run"},
    }
    assert [leg["status"] for leg in found.values()] == ["succeeded", "failed", "failed"]
    assert found["web2"]["steps"][-1]["blocked_by"] == "A4"
    assert found["web1"]["steps"][0]["chunk"] == "actionchain_123_web1_1"

    newest = json.loads(place.run("chain", "runs", "--out", "json").stdout)[0]
    assert (newest["status"], newest["legs"]) == ("partial", {"failed": 2, "succeeded": 1})
    shown = place.run("chain", "show", newest["run"], "web2")
    assert "blocked by A4" in shown.stdout, shown
    shown = place.run("chain", "show", newest["run"])
    assert "3 systems: 2 failed, 1 succeeded" in shown.stdout.splitlines(), shown

    (place.base / "stop").unlink()
    said = place.run("chain", "retry", newest["run"], "--system", "web1")
    assert said.stdout.splitlines() == ["run: partial → running", "web1: ordered"], said
    done = place.run("chain", "watch", newest["run"])
    assert done.stdout.splitlines()[-1] == "3 systems: 1 failed, 2 succeeded", done
    assert (place.base / "A5").read_text() == "x\nx\nx\n"


def test_last_is_the_newest_run_of_the_person_who_asks(place: Place) -> None:
    name = write(place, "chain: last-one\nactions:\n  - {id: a, command: 'exit 3'}\n", "last.yaml")
    place.run("chain", "run", name, "--on", "web1")
    (newest,) = place.data("chain", "runs", "last-one")
    for words in (("show",), ("matrix",), ("log",), ("status", "--controller", place.fleet.socket)):
        verb, *more = words
        shown = place.run("chain", verb, "last", *more, "--out", "json")
        named = place.run("chain", verb, newest["run"], *more, "--out", "json")
        assert shown.returncode == 0 and shown.stdout == named.stdout, shown
    assert "exit code 3" in place.run("chain", "show", "last", "web1").stdout
    again = place.run("chain", "retry", "last", "--controller", place.fleet.socket)
    assert again.stdout.splitlines() == ["run: failed → running", "web1: ordered"], again
    assert place.run("chain", "watch", "last").stdout.splitlines()[-1] == "1 system: 1 failed"
    refused = place.run("chain", "approve", "last")
    assert "needs the number of the run" in refused.stderr, refused


def test_a_vote_may_name_the_plan_by_the_beginning_of_its_digest(place: Place) -> None:
    name = write(place, "chain: voted\nactions:\n  - {id: a, command: 'true'}\n", "voted.yaml")
    run = place.run("chain", "run", name, "--on", "web1", "--approvals", "1", "--detach").stdout.strip()
    digest = place.data("chain", "show", run)["plan_sha256"]
    refused = place.run("chain", "approve", run, "--plan", "0123456789ab")
    assert f"the vote is for another plan: that of the run is {digest}" in refused.stderr, refused
    own = place.run("chain", "approve", run, "--plan", digest[:12])
    assert "the person who started a run cannot approve it" in own.stderr, "the digest was accepted"
    place.run("chain", "cancel", run)


def test_a_system_that_no_action_is_meant_for_has_nothing_to_do(place: Place) -> None:
    name = write(place, "chain: c\nactions:\n  - {id: a, command: 'true', targets: [web1, lost]}\n")
    done = place.run("chain", "run", name, "--on", "web*")
    assert done.returncode == 0, done
    assert "web2: it has no action" in done.stdout
    assert "action a: no system of 'web*' matches 'lost'" in done.stderr
    refused = place.run("chain", "run", name, "--on", "db1")
    assert (refused.returncode, "[chain-empty]" in refused.stderr) == (exits.SURROUNDINGS, True), refused


def test_what_cannot_be_asked_of_many_systems_is_refused(place: Place) -> None:
    name = write(place, "chain: c\nactions:\n  - {id: a, command: 'true'}\n")
    for words in (("run", name, "--system", "x"), ("resume",), ("run", name, "--reason", "t")):
        done = place.run("chain", *words, "--on", "*")
        assert "[option-shape]" in done.stderr, done
    wrong = place.run("chain", "run", write(place, "chain: c\nactions: 1\n", "wrong.yaml"), "--on", "*")
    assert "wrong.yaml:2" in wrong.stderr, wrong


@pytest.mark.parametrize("how", ["", "--now"])
def test_a_chain_that_is_cancelled_ends_and_leaves_the_system_free(place: Place, how: str) -> None:
    begun = place.base / f"begun{how}"
    actions = "".join(
        f"  - {{id: s{number}, command: 'touch {begun}; sleep 0.2'}}\n" for number in range(100)
    )
    name = write(place, f"chain: slow\nactions:\n{actions}")
    run = place.run("chain", "run", name, "--on", "web1", "--detach").stdout.strip()
    deadline = time.monotonic() + 60
    while not begun.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    said = place.run("chain", "cancel", run, "--reason", "it is too late", *filter(None, [how]))
    assert "run: running → cancelling" in said.stdout, said
    place.run("chain", "watch", run)
    leg = json.loads(place.run("chain", "show", run, "web1", "--out", "json").stdout)
    assert (leg["status"], leg["steps"][-1]["status"]) == ("cancelled", "cancelled")
    assert leg["steps"][-1]["comment"] == "it is too late"
    late = place.run("chain", "pause", run)
    assert late.stdout == "nothing was changed; the status of the run is cancelled\n", late
    other = write(place, "chain: c\nactions:\n  - {id: a, command: 'true'}\n")
    again = place.run("chain", "run", other, "--on", "web1")
    assert again.returncode == 0, again


def test_34_a_run_survives_the_controller_and_an_agent_that_are_killed(place: Place) -> None:
    """Each action is done once on each system, and the run in the database ends as the systems did."""
    done = place.base / "done-34"
    done.mkdir()
    actions = "".join(
        f"  - {{id: s{number}, command: 'echo s{number} >> {done}/log; sleep 0.3'}}\n" for number in range(8)
    )
    name = write(place, f"chain: killed\nactions:\n{actions}", "killed.yaml")
    run = place.run("chain", "run", name, "--on", "web*", "--detach").stdout.strip()
    place.fleet.wait("the first action", (done / "log").exists)
    place.fleet.end("controller", how=signal.SIGKILL)
    place.fleet.end("web1", how=signal.SIGKILL)
    place.fleet.run_agent("web1")
    place.fleet.start_controller()
    watched = place.run("chain", "watch", run)
    assert watched.stdout.splitlines()[-1] == "2 systems: 2 succeeded", watched
    wrote = Counter((done / "log").read_text().split())
    assert set(wrote) == {f"s{number}" for number in range(8)}
    assert all(number == 2 for number in wrote.values()), wrote


def test_a_deny_list_stops_the_action_that_it_forbids(place: Place) -> None:
    folder = place.base / "db1" / "agent.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "deny.yaml").write_text("deny:\n  - cmd.*\n")
    try:
        text = (
            "chain: denied\nactions:\n  - {id: a, file: {path: BASE/denied-a, contents: x}}\n"
            "  - {id: b, command: 'touch BASE/denied-b', on_failure: continue}\n"
            "  - {id: c, file: {path: BASE/denied-c, contents: x}}\n"
        )
        done = place.run("chain", "run", write(place, text), "--on", "db1", "--out", "json")
        steps = {row["action"]: row["status"] for row in json.loads(done.stdout)["db1"]["steps"]}
        assert steps == {"a": "succeeded", "b": "failed", "c": "succeeded"}, done
        assert "cmd.run (cmd.*)" in json.loads(done.stdout)["db1"]["steps"][1]["comment"]
        assert (place.base / "denied-c").exists() and not (place.base / "denied-b").exists()
    finally:
        (folder / "deny.yaml").unlink()


def test_what_actions_print_is_seen_while_they_run_and_kept(place: Place) -> None:
    """It is followed as it comes; the action ends only when its first line was seen far away."""
    gate = place.base / "printed-gate"
    text = (
        "chain: talks\nactions:\n"
        f"  - {{id: a, command: 'echo early; echo odd >&2; until test -e {gate}; do sleep 0.05; done;"
        " echo late'}\n"
        "  - {id: b, command: 'echo last; exit 3'}\n  - {id: c, command: 'true'}\n"
    )
    run = place.run(
        "chain", "run", write(place, text, "talks.yaml"), "--on", "web*", "--detach"
    ).stdout.strip()
    with subprocess.Popen(
        place.command("chain", "log", run, "--follow"),
        env=place.env,
        cwd=place.base,
        stdout=subprocess.PIPE,
        text=True,
    ) as follower:
        assert follower.stdout is not None
        seen: set[str] = set()
        while not {"web1 a | early", "web2 a | early", "web1 a ! odd"} <= seen:
            line = follower.stdout.readline()
            assert line, seen
            seen.add(line.rstrip("\n"))
        assert not any("late" in one for one in seen)
        gate.touch()
        rest = follower.communicate(timeout=120)[0].splitlines()
    assert sorted(one for one in rest if one.startswith("web1")) == ["web1 a | late", "web1 b | last"]
    assert place.run("chain", "log", run, "web1", "a").stdout == "early\nlate\n"
    shown = place.run("chain", "log", run, "web2").stdout.splitlines()
    assert [line for line in shown if line.startswith("c:")] == ["c: not run, blocked by b"]
    assert "  ! odd" in shown and "  | last" in shown
    rows = place.data("chain", "log", run, "web1")
    assert [(row["action"], row["stream"], row["text"], row["cut"]) for row in rows] == [
        ("a", "stdout", "early\nlate", False),
        ("a", "stderr", "odd", False),
        ("b", "stdout", "last", False),
    ]
    wrong = place.run("chain", "log", run, "web1", "x")
    assert "[chain-action]" in wrong.stderr, wrong


def test_subscriptions_as_a_user_types_them(place: Place) -> None:
    refused = place.run("chain", "subscribe", "ops", "--webhook", "http://127.0.0.1:9/hook")
    assert "[subscription-address]" in refused.stderr and "callbacks.allow" in refused.stderr, refused
    made = place.run("chain", "subscribe", "ops", "--webhook", "https://x.invalid/s3cret", "--event", "leg.*")
    assert made.stdout.startswith("ops: https://x.invalid/… is notified of leg.*\nkey: whsec_"), made
    place.run(
        "chain", "run", write(place, "chain: c\nactions:\n  - {id: a, command: 'true'}\n"), "--on", "web1"
    )
    sent = place.data("chain", "subscriptions", "ops")
    assert [row["event"] for row in sent] == ["leg.succeeded"]
    assert "s3cret" not in place.run("chain", "subscriptions").stdout
    assert place.run("chain", "unsubscribe", "ops").stdout == "ops is removed\n"
    assert place.run("chain", "subscriptions").stdout == "there are no subscriptions\n"


def test_a_run_is_drawn_at_a_terminal_in_place_and_leaves_only_its_end(place: Place) -> None:
    gate = place.base / "drawn-gate"
    text = (
        "chain: drawn\nactions:\n  - {id: first, command: 'true'}\n"
        f"  - {{id: second, command: 'until test -e {gate}; do sleep 0.05; done'}}\n"
        "  - {id: third, command: 'false'}\n  - {id: fourth, command: 'true'}\n"
    )
    run = place.run(
        "chain", "run", write(place, text, "drawn.yaml"), "--on", "web*", "--detach"
    ).stdout.strip()
    with at_terminal(place.command("chain", "watch", run), place.env, str(place.base), rows=12) as terminal:
        terminal.until(lambda screen: " ".join(screen.text.split()).count("✔ ▸ · ·") == 2)
        assert f"run {run}: running" in terminal.screen.text
        assert len(terminal.screen.lines) <= 12
        gate.touch()
        assert terminal.end() == exits.FAILED
    shown = terminal.screen.text
    assert "▸" not in shown and "running" not in shown, "what was drawn is gone"
    assert shown.count("blocked by third") == 1, "systems that went the same way are shown once"
    assert "2 systems: 2 failed" in shown and f"saltern chain retry {run}" in shown
