"""An orchestration that is killed continues, and nothing is sent twice; one that is called off ends."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest
from tests.fleet.orchestration.kit import LIMIT, Site, site

STEP = (
    "note:\n  cmd.run:\n    - name: echo {{ pillar['part'] }} >> {{ pillar['place'] }}/{{ grains['id'] }};"
    " sleep 0.4\n"
)
PART = (
    "part {n}:\n  salt.state:\n    - tgt: '*'\n    - sls: step\n    - pillar:\n        part: {n}\n"
    "        place: {{{{ pillar['place'] }}}}\n"
)
FILES = {
    "step.sls": STEP,
    "orch/parts.sls": "\n".join(PART.format(n=number) for number in range(4))
    + "    - delayed_render:\n      - block: last\n\n#!delayed_block last\n"
    + PART.format(n="last")
    + "#!end_delayed_block\n",
    "orch/beside.sls": "".join(PART.format(n=number) + "    - parallel: true\n\n" for number in range(2)),
    "orch/inner.sls": PART.format(n="in"),
    "orch/outer.sls": "nested:\n  salt.runner:\n    - name: state.orchestrate\n    - mods: orch.inner\n"
    "    - pillar:\n        place: {{ pillar['place'] }}\n",
}


@pytest.fixture(scope="module")
def here() -> Iterator[Site]:
    with site(("db1", "web1"), FILES) as found:
        yield found


def begin(here: Site, sls: str, place: str) -> subprocess.Popen[bytes]:
    os.makedirs(place)
    words = here.command("orchestrate", sls, "--pillar", f"{{place: {place}}}")
    quiet = subprocess.DEVNULL
    return subprocess.Popen(words, env=here.env, cwd=here.base, stdout=quiet, stderr=quiet)


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


def lines(place: str) -> dict[str, list[str]]:
    found = {}
    for name in sorted(os.listdir(place)):
        with open(os.path.join(place, name), encoding="utf-8") as file:
            found[name] = file.read().split()
    return found


def on_all(*parts: str) -> dict[str, list[str]]:
    return {name: list(parts) for name in ("db1", "web1")}


def kill(process: subprocess.Popen[bytes]) -> bool:
    """Kill it; false if it had ended."""
    was_there = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait(LIMIT)
    return was_there


def newest(here: Site) -> str:
    """The newest orchestration that no other has started."""
    rows = [row for row in here.data("jobs") if row["function"] == "state.orchestrate" and not row["parent"]]
    return str(rows[0]["jid"])


@pytest.mark.parametrize("parts", [1, 3])
def test_a_killed_orchestration_continues_and_sends_nothing_twice(here: Site, parts: int) -> None:
    place = str(here.base / f"killed-{parts}")
    process = begin(here, "orch.parts", place)
    until(lambda: len(lines(place).get("web1", ())) >= parts)
    assert kill(process)
    jid = newest(here)
    done = here.run("orchestrate", "--resume", jid, "--out", "json")
    assert done.returncode == 0, done
    assert lines(place) == on_all("0", "1", "2", "3", "last")
    tree = here.data("job", jid, "--tree")
    assert [one["function"] for one in tree["children"]] == ["state.apply"] * 5
    ids = [one["__id__"] for one in json.loads(done.stdout)["local"].values()]
    assert ids.count("part 0") == 1


def test_states_that_run_in_parallel_are_found_again(here: Site) -> None:
    place = str(here.base / "beside")
    process = begin(here, "orch.beside", place)
    until(lambda: lines(place).get("web1"))
    assert kill(process)
    assert here.run("orchestrate", "--resume", newest(here)).returncode == 0
    assert {name: sorted(found) for name, found in lines(place).items()} == on_all("0", "1")


def test_an_orchestration_within_another_continues_with_it(here: Site) -> None:
    place = str(here.base / "nested")
    process = begin(here, "orch.outer", place)
    until(lambda: lines(place).get("web1"))
    assert kill(process)
    assert here.run("orchestrate", "--resume", newest(here)).returncode == 0
    assert lines(place) == on_all("in")


def test_one_that_was_called_off_ends_with_its_jobs_and_is_not_resumed(here: Site) -> None:
    place = str(here.base / "cancelled")
    process = begin(here, "orch.parts", place)
    until(lambda: lines(place).get("web1"))
    jid = newest(here)
    assert here.run("job", jid, "--cancel").returncode == 0
    assert process.wait(LIMIT) != 0
    job = here.data("job", jid, "--tree")
    assert job["ended"] and job["cancelled_at"]
    assert all(one["ended"] for one in job["children"])
    assert len(lines(place)["web1"]) < 5
    assert "was cancelled" in here.run("orchestrate", "--resume", jid).stderr


def test_a_controller_that_is_away_is_waited_for(here: Site) -> None:
    place = str(here.base / "away")
    process = begin(here, "orch.parts", place)
    try:
        until(lambda: lines(place).get("web1"))
        here.fleet.end("controller")
        here.fleet.start_controller()
        assert process.wait(LIMIT) == 0
    finally:
        kill(process)
    assert lines(place)["web1"] == ["0", "1", "2", "3", "last"]


def test_a_controller_that_starts_resumes_what_broke_before(here: Site) -> None:
    place = str(here.base / "boot")
    process = begin(here, "orch.parts", place)
    until(lambda: lines(place).get("web1"))
    here.fleet.end("controller")
    assert kill(process)
    here.fleet.start_controller()
    jid = newest(here)
    until(lambda: here.data("job", jid, "--tree")["ended"])
    assert lines(place) == on_all("0", "1", "2", "3", "last")
    rows = here.data("orchestrate", "--list")["local"]
    assert next(row["status"] for row in rows if row["jid"] == jid) == "succeeded"
    assert here.data("job", jid, "--tree")["user"].startswith("local:")


@pytest.mark.skipif("CHAOS_SECONDS" not in os.environ, reason="make chaos")
def test_killed_at_random_moments(here: Site) -> None:
    chance, end, number = random.Random(7), time.monotonic() + float(os.environ.get("CHAOS_SECONDS", "0")), 0
    while time.monotonic() < end:
        number += 1
        place = str(here.base / f"chaos-{number}")
        process = begin(here, "orch.parts", place)
        time.sleep(chance.uniform(0.2, 6))
        while kill(process):
            words = here.command("orchestrate", "--resume")
            process = subprocess.Popen(words, env=here.env, cwd=here.base)
            time.sleep(chance.uniform(0.5, 6))
        assert set(map(tuple, lines(place).values())) <= {("0", "1", "2", "3", "last")}
