"""Segments as texts: the RFC's example as it stands in ``golden``, and the rules behind it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import convert

from saltern.chains.applied_actions import Transaction
from saltern.chains.compile import LegPlan, plan_for, state_id
from saltern.chains.document import Chain, read_chain
from saltern.chains.render import actions_text, segment_text, state_text
from saltern.modules.lib.chain_chunks import safe
from saltern.render.yaml import read

HERE = Path(__file__).parent
SALT_MODULE = HERE.parents[1] / "build/salt-3006/salt/modules/transactional_update.py"
RFC = (HERE / "rfc.yaml").read_text(encoding="utf-8")


def _high(text: str) -> dict[str, dict[str, list[dict[str, Any]]]]:
    found = read(text)
    assert isinstance(found, dict)
    return found


def _requires(high: dict[str, dict[str, list[dict[str, Any]]]]) -> dict[str, list[str]]:
    return {
        name: [
            one for item in items if "require" in item for need in item["require"] for one in need.values()
        ]
        for name, body in high.items()
        for items in body.values()
    }


def test_the_example_of_the_rfc_is_rendered_to_its_segments() -> None:
    chain = read_chain(RFC, "rfc.yaml")
    made = {
        segment.name: segment_text(plan, segment)
        for plan in (plan_for(chain, system) for system in chain.systems())
        for segment in plan.segments
    }
    kept = {file.stem: file.read_text(encoding="utf-8") for file in (HERE / "golden").glob("*.sls")}
    assert made == kept


def test_what_comes_next_is_remembered_before_the_reboot() -> None:
    plan = plan_for(read_chain(RFC, "rfc.yaml"), "M1")
    high = _high(segment_text(plan, plan.segments[0]))
    needs = _requires(high)
    assert needs["next_chunk"] == ["action_A1"]
    assert needs["action_A2"] == ["next_chunk"]
    assert list(high).index("next_chunk") < list(high).index("action_A2")


def test_after_an_update_the_next_chunk_asks_which_one_runs() -> None:
    chain = read_chain("chain: c\nactions:\n  - {id: U, agent: {version: '3'}}\n  - {id: B, reboot: }\n", "c")
    plan = plan_for(chain, "m")
    second = _high(segment_text(plan, plan.segments[1]))
    assert second["check_U"]["module.run"][0] == {"actionchains.updated": [{"version": "3"}]}
    assert _requires(second)["finish_action_chain"] == ["check_U"]


def test_a_failure_that_may_be_does_not_stop_the_next() -> None:
    text = "chain: c\nactions:\n" + "".join(
        f"  - {{id: {name}, command: {{run: 'true'}}, on_failure: {how}}}\n"
        for name, how in (("a", "stop"), ("b", "continue"), ("c", "stop"))
    )
    needs = _requires(_high(actions_text(plan_for(read_chain(text, "c"), "m").segments[0].actions)))
    assert needs == {"action_a": [], "action_b": ["action_a"], "action_c": ["action_a"]}


def test_a_system_that_nothing_is_meant_for_has_no_segments() -> None:
    assert plan_for(read_chain(RFC, "rfc.yaml"), "M9").segments == ()


def test_braces_of_a_command_are_left_alone() -> None:
    chain = read_chain("chain: c\nactions: [{command: {run: 'echo {{ x }} {% y %}'}}]\n", "c")
    text = actions_text(plan_for(chain, "m").segments[0].actions)
    assert text.startswith("#!yaml\n")
    assert _high(text)["action_1"]["cmd.run"][0] == {"name": "echo {{ x }} {% y %}"}


def test_only_what_is_safe_to_repeat_is_run_again_after_a_crash() -> None:
    chain = read_chain("chain: c\nactions: [{command: {run: x}}, {wait: {seconds: 1}}, {highstate: }]\n", "c")
    high = _high(actions_text(plan_for(chain, "m").segments[0].actions))
    said = {name: {"resume": "rerun"} in body[next(iter(body))] for name, body in high.items()}
    assert said == {"action_1": False, "action_2": True, "action_3": True}


@pytest.mark.parametrize(
    ("body", "function", "args"),
    [
        ({"run": "a b"}, "run", {"command": "a b", "snapshot": "continue"}),
        (
            {"install": {"a": "1", "b": None}},
            "pkg_install",
            {"pkgs": ["a=1", "b"], "snapshot": "continue"},
        ),
        ({"latest": ["a"]}, "pkg_update", {"pkgs": ["a"], "snapshot": "continue"}),
        ({"remove": ["a"]}, "pkg_remove", {"pkgs": ["a"], "snapshot": "continue"}),
        ({"patch": True}, "patch", {"snapshot": "continue"}),
        ({"upgrade": True}, "dup", {"snapshot": "continue"}),
        ({"sls": ["a", "b"], "pillar": {"c": 1}}, "sls", {"mods": ["a", "b"], "pillar": {"c": 1}}),
        ({"highstate": True}, "highstate", {}),
    ],
)
def test_under_a_real_salt_a_transaction_is_a_call_of_its_module(
    body: dict[str, object], function: str, args: dict[str, object]
) -> None:
    made = convert(body, Transaction).call(True)
    name = f"transactional_update.{function}"
    assert (made.function, made.args) == ("module.run", {name: [{key: args[key]} for key in args]})
    if not SALT_MODULE.exists():
        pytest.skip("needs Salt 3006 in build/salt-3006")
    known = ast.parse(SALT_MODULE.read_text())
    (found,) = (one for one in known.body if isinstance(one, ast.FunctionDef) and one.name == function)
    names = {one.arg for one in found.args.args}
    assert set(args) <= names or found.args.kwarg is not None, "Salt's function takes them"


def test_saved_as_a_state_the_barriers_are_states() -> None:
    text = (
        "chain: c\nactions: [{id: a, command: {run: x}}, {id: r, reboot: }, {id: u, agent: {version: '2'}}]\n"
    )
    high = _high(state_text(plan_for(read_chain(text, "c"), "m")))
    assert [next(iter(body)) for body in high.values()] == ["cmd.run", "system.reboot", "saltern.updated"]
    assert _requires(high) == {"action_a": [], "action_r": ["action_a"], "action_u": ["action_r"]}


def test_a_name_with_dots_is_no_directory_and_stays_apart_from_its_like() -> None:
    assert "." not in safe("web.example.org")
    assert safe("a.b") != safe("a_b") != safe("a-b")


KINDS = st.sampled_from(
    ["command: {run: x}", "reboot: {}", "wait: {seconds: 1}", "agent: {version: '1'}", "state: {sls: y}"]
)
ACTIONS = st.lists(st.tuples(KINDS, st.lists(st.sampled_from("abc"), min_size=1, unique=True)), min_size=1)


def _written(actions: list[tuple[str, list[str]]]) -> Chain:
    rows = "".join(f"  - {{{kind}, targets: [{', '.join(to)}]}}\n" for kind, to in actions)
    return read_chain(f"chain: c\nactions:\n{rows}", "c")


def _shown(plan: LegPlan) -> list[str]:
    return [
        name
        for segment in plan.segments
        for name in _high(segment_text(plan, segment))
        if name.startswith("action_")
    ]


@given(ACTIONS)
def test_each_system_gets_its_actions_in_their_order_cut_after_each_barrier(
    actions: list[tuple[str, list[str]]],
) -> None:
    chain = _written(actions)
    for system in "abc":
        plan = plan_for(chain, system)
        mine = [action for action in chain.actions if system in action.targets]
        assert list(plan.steps) == mine
        assert _shown(plan) == [state_id(action.id) for action in mine]
        assert all(not action.row.barrier for segment in plan.segments for action in segment.actions)
        assert all(segment.barrier is not None for segment in plan.segments[:-1])
        assert [segment.number for segment in plan.segments] == list(range(1, len(plan.segments) + 1))


@pytest.mark.parametrize("system", ["M1", "M2"])
def test_the_last_segment_ends_the_chain(system: str) -> None:
    plan = plan_for(read_chain(RFC, "rfc.yaml"), system)
    assert "finish_action_chain" in _high(segment_text(plan, plan.segments[-1]))
