"""``saltern chain run --via salt``: one job for all minions, resumed by the reactor or the node itself."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import msgspec
import pytest
from bench.fleet_measure import tree
from tests.salt_fleet.conftest import MINIONS, Salt
from tests.salt_fleet.test_apply import wait_until

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("salt-fleet")]

PATCH = """\
chain: patch
inputs:
  word: {default: two}
actions:
  - {id: first, state: {sls: chained}}
  - {id: bad, command: exit 3, targets: [web2]}
  - {id: last, command: 'echo ${input:word}'}
"""
OVER_A_BOOT = """\
chain: long
actions:
  - {id: first, command: uptime}
  - {id: hold1, command: 'touch @/held1; @/hold', resume: rerun, targets: [web1]}
  - {id: hold2, command: 'touch @/held2; @/hold', resume: rerun, targets: [web2]}
  - {id: boot, reboot: {}, targets: [web3]}
  - {id: last, state: {sls: chained}}
"""
AGAIN = """\
chain: again
actions:
  - {id: once, state: {sls: once}}
  - {id: gate, command: test -e @/ready, targets: [web2]}
  - {id: last, state: {sls: last}}
"""
CHAINED = "done:\n  file.append: [{name: '@/end-{{ grains.id }}'}, {text: end}, {makedirs: true}]\n"


def test_each_system_has_a_status_for_each_action(fleet: Salt) -> None:
    fleet.write("chained.sls", CHAINED.replace("@", str(fleet.place)))
    (fleet.place / "patch.yaml").write_text(PATCH)
    code, run = fleet.chained("run", "patch.yaml", "--on", "web*", "--input", "word=three")
    assert (code, run["status"]) == (2, "partial")
    legs = {leg["system"]: leg for leg in run["legs"]}
    steps = {id: [(one["action"], one["status"]) for one in leg["steps"]] for id, leg in legs.items()}
    assert steps["web1"] == steps["web3"] == [("first", "succeeded"), ("last", "succeeded")]
    assert steps["web2"] == [("first", "succeeded"), ("bad", "failed"), ("last", "not run")]
    assert legs["web1"]["steps"][1]["output"]["stdout"] == "three"
    assert legs["web1"]["steps"][0]["chunk"] == "actionchain_patch_web1_1"
    jobs = fleet.runner("jobs.list_jobs", "search_function=saltern.chain_start")
    (asked,) = (job for job in jobs.values() if job["Arguments"][0]["run"] == run["run"])
    assert sorted(asked["Target"]) == list(MINIONS)

    code, again = fleet.chained("status", run["run"])  # by the job cache
    assert {leg["system"]: leg["status"] for leg in again["legs"]} == {
        "web1": "succeeded", "web2": "failed", "web3": "succeeded",
    }  # fmt: skip
    _, skipped = fleet.chained("skip", run["run"], "bad", "--system", "web2")
    code, resumed = fleet.chained("resume", run["run"])
    assert (code, resumed["status"]) == (0, "succeeded"), (skipped, resumed)


def test_what_failed_is_run_again_by_retry(fleet: Salt) -> None:
    place = fleet.place
    for name in ("once", "last"):
        line = f"echo {name} >> {place}/lines-{{{{ grains.id }}}}"
        fleet.write(f"{name}.sls", f"{name}:\n  cmd.run: [{{name: '{line}'}}]\n")
    (place / "again.yaml").write_text(AGAIN.replace("@", str(place)))
    code, run = fleet.chained("run", "again.yaml", "--on", "N@pair")
    assert (code, run["status"]) == (2, "partial"), run
    (place / "ready").touch()
    code, retried = fleet.chained("retry", run["run"])
    assert (code, retried["status"]) == (0, "succeeded"), retried
    legs = {leg["system"]: {one["action"]: one["status"] for one in leg["steps"]} for leg in retried["legs"]}
    assert legs["web2"] == {"once": "succeeded", "gate": "succeeded", "last": "succeeded"}
    assert [(place / f"lines-{one}").read_text() for one in ("web1", "web2")] == ["once\nlast\n"] * 2


def long_chain(fleet: Salt) -> None:
    """A chain that web1 and web2 are at until ``released`` is there, and that reboots web3."""
    place = fleet.place
    fleet.write("chained.sls", CHAINED.replace("@", str(place)))
    (place / "long.yaml").write_text(OVER_A_BOOT.replace("@", str(place)))
    (place / "hold").write_text(f"#!/bin/sh\nuntil test -e {place}/released; do sleep 0.1; done\n")
    (place / "hold").chmod(0o755)
    for old in (*place.glob("end-*"), *place.glob("held*"), *place.glob("down-*"), place / "released"):
        old.unlink(missing_ok=True)


def restart_all(fleet: Salt) -> None:
    """Kill all minions as soon as each of them is in the middle of the chain, and start them again."""
    wait_until(lambda: all((fleet.place / name).exists() for name in ("down-web3", "held1", "held2")))
    for minion in MINIONS:
        fleet.kill(minion)
    (fleet.place / "released").touch()
    for minion in MINIONS:
        fleet.restart(minion)


def jobs_of(fleet: Salt, function: str) -> set[str]:
    """The targets of the jobs of a function."""
    jobs = fleet.runner("jobs.list_jobs", f"search_function={function}")
    return {",".join(one) if isinstance(one := job["Target"], list) else one for job in jobs.values()}


def test_a_chain_that_no_command_watches_continues_by_each_way(fleet: Salt) -> None:
    """web1 by its schedule, web2 by the reactor, web3 as soon as it is asked again."""
    long_chain(fleet)
    with fleet.chain("run", "long.yaml", "--on", "web*", "--token", "unwatched") as job:
        wait_until(lambda: all((fleet.place / name).exists() for name in ("down-web3", "held1", "held2")))
        job.terminate()
        _, errors = job.communicate()
    assert "the run continues" in errors
    restart_all(fleet)
    wait_until(lambda: all((fleet.place / f"end-{one}").exists() for one in ("web1", "web2")))
    continued = jobs_of(fleet, "saltern.chain_continue")
    assert "web2" in continued and not {"web1", "web3"} & continued
    assert not (fleet.place / "end-web3").exists()
    code, run = fleet.chained("resume", "unwatched")
    assert (code, run["status"]) == (0, "succeeded"), run
    assert {path.read_text() for path in fleet.place.glob("end-*")} == {"end\n"}


def test_a_minion_that_does_nothing_for_the_chain_is_asked_again(fleet: Salt) -> None:
    """Its job was killed and its minion was not: nothing is returned, and nothing starts."""
    long_chain(fleet)
    with fleet.chain("run", "long.yaml", "--on", "web1", "--out", "jsonl") as job:
        wait_until((fleet.place / "held1").exists)
        kill_job(fleet.place / "web1", "saltern.chain_start")
        (fleet.place / "released").touch()
        output, errors = job.communicate()
    rows = [json.loads(line) for line in output.splitlines()]
    assert (job.returncode, rows[-1]["status"]) == (0, "succeeded"), (rows, errors)
    assert "asked-again" in [row["event"] for row in rows]


def kill_job(minion: Path, function: str) -> None:
    """Kill a job of a minion and all that it has started."""
    (found,) = (
        job for one in (minion / "var/cache/salt/minion/proc").iterdir()
        if (job := msgspec.msgpack.decode(one.read_bytes()))["fun"] == function
    )  # fmt: skip
    assert str(minion.parent).encode() in Path(f"/proc/{found['pid']}/cmdline").read_bytes()
    for pid in tree(found["pid"]):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif("CHAOS_SECONDS" not in os.environ, reason="make chaos: takes a minute")
def test_a_chain_continues_over_restarts_and_a_reboot(fleet: Salt) -> None:
    long_chain(fleet)
    with fleet.chain("run", "long.yaml", "--on", "web*", "--out", "json") as job:
        restart_all(fleet)
        output, errors = job.communicate()
    run = json.loads(output)
    legs = {leg["system"]: {one["action"]: one for one in leg["steps"]} for leg in run["legs"]}
    assert (job.returncode, run["status"]) == (0, "succeeded"), (run, errors)
    assert legs["web3"]["boot"]["comment"] == "The machine was rebooted"
    assert {name.name for name in fleet.place.glob("end-*")} == {f"end-{one}" for one in MINIONS}
    assert {path.read_text() for path in fleet.place.glob("end-*")} == {"end\n"}
    assert "web2" in jobs_of(fleet, "saltern.chain_continue")  # the reactor


def test_what_cannot_be_started_says_why(fleet: Salt) -> None:
    (fleet.place / "nowhere.yaml").write_text(
        "chain: n\nactions: [{id: a, command: uptime, targets: [db*]}]\n"
    )
    with fleet.chain("run", "nowhere.yaml", "--on", "web*") as job:
        output, errors = job.communicate()
    assert job.returncode == 1 and "no action of the chain 'n' is for a minion of 'web*'" in errors, output
    (fleet.place / "secret.yaml").write_text(
        "chain: s\ninputs: {key: {secret: true}}\nactions: [{id: a, command: uptime}]\n"
    )
    with fleet.chain("run", "secret.yaml", "--on", "web*", "--input", "key=1") as job:
        output, errors = job.communicate()
    assert job.returncode == 1 and "the job cache of the master would store" in errors, output
