"""``saltern chain run --via salt``: one job for all minions, resumed by the reactor or the node itself."""

from __future__ import annotations

import json
import os

import pytest
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


@pytest.mark.skipif("CHAOS_SECONDS" not in os.environ, reason="make chaos: a minion of Salt may stay away")
def test_a_chain_continues_over_restarts_and_a_reboot(fleet: Salt) -> None:
    place = fleet.place
    fleet.write("chained.sls", CHAINED.replace("@", str(place)))
    (place / "long.yaml").write_text(OVER_A_BOOT.replace("@", str(place)))
    (place / "hold").write_text(f"#!/bin/sh\nuntil test -e {place}/go; do sleep 0.1; done\n")
    (place / "hold").chmod(0o755)
    for old in place.glob("end-*"):
        old.unlink()
    with fleet.chain("run", "long.yaml", "--on", "web*", "--out", "json") as job:
        wait_until(lambda: all((place / name).exists() for name in ("down-web3", "held1", "held2")))
        for minion in MINIONS:
            fleet.kill(minion)
        (place / "go").touch()
        for minion in MINIONS:
            fleet.restart(minion)
        output, errors = job.communicate()
    run = json.loads(output)
    legs = {leg["system"]: {one["action"]: one for one in leg["steps"]} for leg in run["legs"]}
    assert (job.returncode, run["status"]) == (0, "succeeded"), (run, errors)
    assert legs["web3"]["boot"]["comment"] == "The machine was rebooted"
    assert {name.name for name in place.glob("end-*")} == {f"end-{one}" for one in MINIONS}
    assert {path.read_text() for path in place.glob("end-*")} == {"end\n"}
    jobs = fleet.runner("jobs.list_jobs", "search_function=saltern.chain_continue")
    targets = {
        tuple(job["Target"]) if isinstance(job["Target"], list) else job["Target"] for job in jobs.values()
    }
    assert {"web2", "web3"} <= {str(one) for one in targets}  # the reactor


def test_what_cannot_be_started_says_why(fleet: Salt) -> None:
    (fleet.place / "nowhere.yaml").write_text(
        "chain: n\nactions: [{id: a, command: uptime, targets: [db*]}]\n"
    )
    with fleet.chain("run", "nowhere.yaml", "--on", "web*") as job:
        output, errors = job.communicate()
    assert job.returncode == 1 and "no action of the chain 'n' is meant for a minion" in errors, output
    (fleet.place / "secret.yaml").write_text(
        "chain: s\ninputs: {key: {secret: true}}\nactions: [{id: a, command: uptime}]\n"
    )
    with fleet.chain("run", "secret.yaml", "--on", "web*", "--input", "key=1") as job:
        output, errors = job.communicate()
    assert job.returncode == 1 and "the job cache of the master would keep it" in errors, output
