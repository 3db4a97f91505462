"""The policy file: what it means, and every mistake at once, each with its line and a hint."""

from __future__ import annotations

import pytest

from saltern.fleet.access.document import read_policy
from saltern.fleet.access.policy import Condition, Policy
from saltern.language.diagnostics import Diagnostic, OperationError

GOOD = """\
timezone: Europe/Berlin
windows:
  night: ["mon-fri 22:00-04:00", "sat,sun 00:00-24:00 UTC"]
roles:
  admin: [oidc:anna@example.org, "group:pam:wheel"]
login:
  pam: {service: saltern-login, groups: [ops]}
  oidc: {issuer: "https://id.example.org", client_id: saltern}
rules:
  - name: web team
    who: ["group:web", anna]
    functions: [state.*, test.ping]
    target: "web* and not web9"
    only: [test, {window: night, approval: 2}]
  - who: "*"
    functions: cmd.*
    deny: true
"""


def mistakes(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(OperationError) as refused:
        read_policy(text, "policy.yaml")
    return refused.value.diagnostics


def policy(text: str) -> Policy:
    return read_policy(text)[0]


def test_a_policy_has_rules_windows_roles_and_ways_to_log_in() -> None:
    read = policy(GOOD)
    team, rest = read.rules
    assert team.only == (Condition(test=True), Condition(windows=("night",), approvals=2))
    assert (team.name, team.target, team.deny) == ("web team", "web* and not web9", False)
    assert (rest.name, rest.functions, rest.target, rest.deny) == ("rule 2", ("cmd.*",), "*", True)
    assert [window.zone for window in read.windows["night"]] == ["Europe/Berlin", "UTC"]
    assert read.login.pam is not None and read.login.pam.groups == ("ops",)
    assert read.login.oidc is not None and read.login.oidc.name_claim == "preferred_username"


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "rules: []\n", "rules:\n"])
def test_an_empty_policy_is_a_policy_without_rules(text: str) -> None:
    assert policy(text) == Policy()


def test_all_mistakes_are_reported_at_once_with_their_lines() -> None:
    text = """\
timezone: Europe/Berlni
windows:
  night: "sat 02:00-25:00"
roles:
  amdin: [x]
  viewer: ["role:admin"]
rules:
  - who: anna
    function: state.*
    target: "( web*"
  - who: "%ops"
    functions: [state.apply, 3]
    only: {windw: night}
  - who: x
    functions: "rm -rf"
    only: night
  - [not, a, rule]
"""
    found = mistakes(text)
    lines = [one.where.line for one in found if one.where]
    assert lines == [1, 3, 5, 6, 8, 9, 10, 11, 12, 13, 15, 16, 17, 17, 17]
    hints = {one.where.line: one.fix for one in found if one.where}
    assert hints[1] == "did you mean 'Europe/Berlin'?"
    assert hints[5] == "did you mean 'admin'?"
    assert hints[9] == "did you mean 'functions'?"
    assert hints[11] == "write 'group:ops'"
    assert hints[16] == "write it as 'window: night'"


@pytest.mark.parametrize(
    "only",
    [
        "[]",
        "{}",
        "[[test]]",
        "nothing",
        "5",
        "{approval: 0}",
        "{approval: yes}",
        "{approval: 2.5}",
        "{approval: -1}",
        "{window: []}",
        "{window: elsewhere}",
        "{test: false}",
        "{approval: {n: 2}}",
        "[test, {}]",
    ],
)
def test_a_condition_that_is_not_understood_is_a_mistake_and_never_ignored(only: str) -> None:
    found = mistakes(f"rules:\n  - {{who: a, functions: b, only: {only}}}\n")
    assert {one.code for one in found} == {"policy-file"}


@pytest.mark.parametrize(
    "text",
    [
        "rules: {who: a}",
        "rules: [{who: a, functions: b, deny: 'no'}]",
        "rules: [{who: a, functions: b, deny: true, only: test}]",
        "rules: [{who: a, functions: b, name: x}, {who: a, functions: b, name: x}]",
        "rules: [{who: a, functions: b, target: ''}]",
        "rules: [{who: a, functions: b, target: [web1]}]",
        "rules: [{who: [], functions: b}]",
        "rules: [{who: 'role:root', functions: b}]",
        "login: {odic: {}}",
        "login: {oidc: {issuer: x}}",
        "login: {pam: {services: x}}",
        "- rules",
        "rules: [",
        "rules: 1\nrules: 2",
        "? [a]\n: 1",
    ],
)
def test_what_is_not_a_policy_is_refused_with_a_place(text: str) -> None:
    assert all(one.where is not None and one.where.line for one in mistakes(text))


def test_a_target_that_trusts_what_agents_say_is_warned_about() -> None:
    _, warnings = read_policy("rules:\n  - {who: a, functions: b, target: 'web* and G@os:Debian'}\n")
    assert [(one.code, one.where and one.where.line) for one in warnings] == [("policy-trusts-grains", 2)]
