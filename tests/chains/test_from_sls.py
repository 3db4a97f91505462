"""A chain that is saved as a state and read back is the same plan."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.chains.compile import LegPlan, plan_for
from saltern.chains.document import read_chain
from saltern.chains.from_sls import chain_text
from saltern.chains.render import state_text
from saltern.language.diagnostics import OperationError

WORD = st.text("abc {}$'\"\\:#-é", min_size=1, max_size=8).filter(lambda text: text.strip() == text)
NAMES = st.lists(st.sampled_from(["nginx", "curl", "a.b"]), min_size=1, unique=True)
PROCESS = {
    "cwd": WORD,
    "timeout": st.integers(1, 99),
    "creates": WORD,
    "env": st.just({"A": "1"}),
    "verify": WORD,
}
KINDS = {
    "packages": st.one_of(
        st.fixed_dictionaries({"install": NAMES}, optional={"refresh": st.booleans()}),
        st.just({"install": {"nginx": "1.2", "curl": None}}),
        st.fixed_dictionaries({"remove": NAMES}),
    ),
    "patch": st.fixed_dictionaries({}, optional={"packages": NAMES, "refresh": st.booleans()}),
    "upgrade": st.fixed_dictionaries({}, optional={"refresh": st.booleans()}),
    "command": st.fixed_dictionaries({"run": WORD | st.just("echo ${delayed:a.b}")}, optional=PROCESS),
    "script": st.fixed_dictionaries({"source": WORD}, optional={**PROCESS, "args": WORD | NAMES}),
    "state": st.fixed_dictionaries({"sls": NAMES}, optional={"pillar": st.just({"a": [1]}), "saltenv": WORD}),
    "highstate": st.fixed_dictionaries({}, optional={"saltenv": WORD}),
    "file": st.fixed_dictionaries(
        {"path": st.just("/a"), "contents": WORD},
        optional={"mode": st.just("0644"), "makedirs": st.booleans()},
    ),
    "wait": st.fixed_dictionaries({"seconds": st.integers(1, 9)}),
    "health": st.one_of(
        st.fixed_dictionaries({"command": WORD}, optional={"attempts": st.integers(2, 5)}),
        st.fixed_dictionaries({"url": WORD}, optional={"status": st.just(204)}),
        st.fixed_dictionaries({"service": WORD}, optional={"attempts": st.integers(2, 5)}),
    ),
    "request": st.fixed_dictionaries(
        {"url": WORD},
        optional={
            "method": st.sampled_from(["GET", "PUT"]),
            "headers": st.just({"X-Key": "1"}),
            "timeout": st.just(9),
            "data": WORD,
            "status": st.sampled_from([200, 204]),
        },
    ),
    "transaction": st.one_of(
        st.fixed_dictionaries({"run": WORD}, optional={"timeout": st.just(9), "env": st.just({"A": "1"})}),
        st.fixed_dictionaries(
            {"install": st.just({"a": "1", "b": None})},
            optional={"refresh": st.booleans(), "timeout": st.just(9), "env": st.just({"A": "1"})},
        ),
        st.fixed_dictionaries({"latest": NAMES}),
        st.fixed_dictionaries({"remove": NAMES}, optional={"timeout": st.just(9)}),
        st.fixed_dictionaries({"patch": st.just(True)}, optional={"refresh": st.booleans()}),
        st.fixed_dictionaries({"upgrade": st.just(True)}, optional={"refresh": st.booleans()}),
        st.fixed_dictionaries(
            {"sls": NAMES}, optional={"pillar": st.just({"a": [1]}), "saltenv": WORD, "timeout": st.just(9)}
        ),
        st.fixed_dictionaries({"highstate": st.just(True)}, optional={"pillar": st.just({"a": 1})}),
    ),
    "reboot": st.fixed_dictionaries(
        {},
        optional={"when": st.just("needed"), "force": st.booleans(), "checks": NAMES, "stable": st.just(5)},
    ),
    "agent": st.fixed_dictionaries({"version": WORD}, optional={"deadline": st.just(9)}),
}
POLICY = st.fixed_dictionaries(
    {}, optional={"on_failure": st.just("continue"), "resume": st.sampled_from(["rerun", "skip", "fail"])}
)


@st.composite
def chains(draw: st.DrawFn) -> str:
    kinds = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=5))
    actions: list[dict[str, object]] = [
        {"id": f"a{place}", kind: draw(KINDS[kind]), **draw(POLICY)} for place, kind in enumerate(kinds)
    ]
    actions[-1].pop("on_failure", None)  # of the last one nobody can see that
    for action in actions:
        if {"reboot", "agent"} & action.keys():
            action.pop("resume", None)
        if "resume" in action and any("verify" in body for body in action.values() if isinstance(body, dict)):
            action.pop("resume")
    for action in actions:
        if draw(st.integers(0, 3)) == 0:
            handlers = draw(st.integers(1, 2))
            action["handler"] = [
                {"id": f"{action['id']}-h{at}", "command": draw(KINDS["command"])} for at in range(handlers)
            ]
    last = [{"id": "end", "command": draw(KINDS["command"])}] if draw(st.booleans()) else []
    return json.dumps({"chain": "c", "actions": actions, **({"finally": last} if last else {})})


def essence(plan: LegPlan) -> list[object]:
    """What is done, in which order, and what follows a failure or a crash."""
    return [
        [
            *(
                one.id,
                one.kind,
                one.body.call(False),
                one.policy.retry,
                one.policy.on_failure,
                one.repeatable,
            ),
            "" if one.repeatable else one.policy.resume,
        ]
        for one in plan.every
    ]


@given(chains())
def test_54_a_chain_that_is_saved_as_a_state_is_read_back_as_the_same_plan(text: str) -> None:
    plan = plan_for(read_chain(text, "c"), "web1")
    saved = state_text(plan)
    again = plan_for(read_chain(chain_text(saved, "c.sls", "c"), "c"), "web1")
    assert essence(again) == essence(plan)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "a: {cmd.run: [{name: x}]}\nb: {cmd.run: [{name: y}, {require: [{cmd: a}]}]}\n"
            "c: {cmd.run: [{name: z}]}",
            "c requires 'nothing', but the state before it is 'a'",
        ),
        ("a: {user.present: [{name: x}]}", "no action corresponds to this user.present"),
        ("a: {cmd.run: [{name: x}, {require: [{cmd: b}, {cmd: c}]}]}", "requires more than one state"),
        ("{% if x %}{% endif %}", "has templates"),
        ("a: {cmd.run: [{name: '${delayed:vm.ip}'}, {reboot_retcodes: true}]}", "a chain has no"),
        ("a: [1]", "not a single call"),
        ("", "has no states"),
    ],
)
def test_a_file_that_is_no_chain_is_refused(text: str, why: str) -> None:
    with pytest.raises(OperationError, match=why):
        chain_text(text, "c.sls", "c")


def test_a_hand_written_file_becomes_a_chain() -> None:
    text = """\
install:
  pkg.installed:
    - pkgs: [nginx]
say:
  cmd.run:
    - name: echo hello
    - require:
      - pkg: install
"""
    chain = read_chain(chain_text(text, "c.sls", "web"), "c")
    assert [(one.id, one.kind) for one in chain.actions] == [("install", "packages"), ("say", "health")]
