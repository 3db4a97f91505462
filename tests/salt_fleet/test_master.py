"""What Salt has around a state run treats one of saltern the same: returners, mine, orchestration, output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.modules.ansible.plays import program
from tests.salt_fleet.conftest import MINIONS, Salt

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("salt-fleet")]

MIXED = "good:\n  test.succeed_with_changes: []\nwrong:\n  cmd.run: [{name: exit 3}]\n"


def test_the_job_cache_the_runner_and_the_returner_have_the_run(fleet: Salt) -> None:
    fleet.write("mixed.sls", MIXED)
    done = fleet.command("salt", "*", "saltern.apply", "mixed", "--return", "saltern", "-t", "120")
    assert done.stdout.count("Failed:    1") == len(MINIONS)  # the outputter of state runs
    assert done.returncode != 0
    newest = fleet.runner("saltern.runs", "limit=1")[0]
    assert (newest["function"], newest["arguments"]) == ("saltern.apply", ["mixed"])
    assert newest["minions"] == {one: {"states": 2, "changed": 2, "failed": 1} for one in MINIONS}
    shown = fleet.runner("saltern.show", newest["jid"])
    assert shown["web2"]["failures"] == {"cmd_|-wrong_|-exit 3_|-run": 'Command "exit 3" run'}
    kept = json.loads((fleet.place / "returns-web1" / f"{newest['jid']}.json").read_text())
    assert [state["result"] for state in kept["local"].values()] == [True, False]


def test_orchestration_runs_it_on_minions_and_the_mine_publishes_it(fleet: Salt) -> None:
    fleet.write("mixed.sls", MIXED)
    fleet.write("good.sls", "good:\n  test.succeed_with_changes: []\n")
    fleet.write(
        "orchestrated.sls",
        "first:\n  salt.function: [{name: saltern.apply}, {tgt: web1}, {arg: [good]}]\n"
        "second:\n  salt.state: [{tgt: web2}, {sls: [applied]}, {require: [{salt: first}]}]\n",
    )
    fleet.write("applied.sls", "mixed:\n  saltern.applied: []\n")
    answer = fleet.runner("state.orchestrate", "orchestrated")
    (states,) = answer["data"].values()
    first, second = sorted(states.values(), key=lambda state: state["__run_num__"])
    assert first["result"] is True and "good" in json.dumps(first["changes"])
    assert second["result"] is False and "exit 3" in json.dumps(second["changes"])
    assert fleet.ask("web1", "mine.send", "saltern.runs")["web1"] is True
    (published,) = fleet.ask("web2", "mine.get", "web1", "saltern.runs").values()
    assert published["web1"][0]["status"]


def test_sub_states_of_ansible_are_states_of_the_run(fleet: Salt) -> None:
    ansible = program()
    if ansible is None:
        pytest.skip("needs ansible-core: make engines")
    fleet.write("play.yml", "- hosts: localhost\n  tasks:\n    - name: say\n      command: echo hello\n")
    fleet.write(
        "ansible.sls",
        "run it:\n  ansible.playbooks:\n    - name: play.yml\n    - rundir: "
        f"{fleet.place}/states\n    - bin_dir: {Path(ansible).parent}\n",
    )
    answer = fleet.ask("web1", "saltern.apply", "ansible")["web1"]
    assert isinstance(answer, dict), answer
    subs = [state for state in answer.values() if state.get("__parent__")]
    assert any("say" in str(state["__id__"]) for state in subs), answer


def test_saltenv_and_exclude_map_to_those_of_salt(fleet: Salt) -> None:
    fleet.write("mixed.sls", MIXED)
    left = fleet.ask("web1", "saltern.apply", "mixed", "exclude=[{id: wrong}]")["web1"]
    assert [state["__id__"] for state in left.values()] == ["good"]
    missing = fleet.details("web1", "saltern.apply", "mixed", "saltenv=nowhere")
    assert missing["retcode"] == 1


def test_what_master_tops_of_the_master_gives_is_part_of_the_highstate(fleet: Salt) -> None:
    fleet.write("node.sls", "node:\n  test.nop: []\n")
    nodes = fleet.place / "nodes.yaml"
    nodes.write_text("classes: [node]\n")
    try:
        found = [fleet.ask("web1", function)["web1"] for function in ("state.apply", "saltern.apply")]
    finally:
        nodes.unlink()
    assert [list(one) for one in found] == [["test_|-node_|-node_|-nop"]] * 2, found


def test_a_top_file_knows_the_node_groups_of_the_master(fleet: Salt) -> None:
    fleet.write("node.sls", "node:\n  test.nop: []\n")
    fleet.write("top.sls", "base:\n  pair: [{match: nodegroup}, node]\n")
    try:
        found = [fleet.ask("web1", function)["web1"] for function in ("state.apply", "saltern.apply")]
    finally:
        (fleet.place / "states" / "top.sls").unlink()
    assert [list(one) for one in found] == [["test_|-node_|-node_|-nop"]] * 2, found


def test_options_of_the_minion_are_those_of_the_run(fleet: Salt) -> None:
    """Those that templates ask for, and those about states that saltern knows."""
    fleet.write("asks.sls", "{{ salt['config.get']('colour') }} {{ opts.colour }}:\n  test.nop: []\n")
    (answer,) = fleet.ask("web1", "saltern.apply", "asks")["web1"].values()
    assert answer["__id__"] == "red red"
