"""``read_only`` commands in test mode: asked for real, unless what they look at would change."""

from __future__ import annotations

from tests import kit

from saltern.language.result import Outcome

TREE = """
{before}
look:
  {function}:
    - name: {command}
    - read_only: true
    - register: seen
{require}
uses:
  test.nop:
    - comment: ${{delayed:seen.data.stdout}}
"""
BEFORE = "prepare:\n  test.succeed_with_changes: []\n"
REQUIRE = "    - require:\n      - test: prepare\n"


def outcomes(command: str, *, before: str = "", require: str = "") -> dict[str, Outcome]:
    text = TREE.format(before=before, command=command, require=require, function="cmd.run")
    ran = kit.run_sls({"main.sls": text}, test=True)
    return {answer.chunk.id: answer.result.outcome for answer in ran.answers}


def test_a_test_run_asks_it() -> None:
    assert outcomes("echo hello") == {"look": Outcome.OK, "uses": Outcome.OK}


def test_one_that_fails_now_is_known_after_apply() -> None:
    assert outcomes("'false'") == {"look": Outcome.WOULD_CHANGE, "uses": Outcome.WOULD_CHANGE}


def test_one_that_waits_for_a_change_is_known_after_apply() -> None:
    found = outcomes("echo hello", before=BEFORE, require=REQUIRE)
    assert found["look"] is Outcome.WOULD_CHANGE
    assert found["uses"] is Outcome.WOULD_CHANGE


def test_a_change_that_it_does_not_wait_for_is_no_hindrance() -> None:
    assert outcomes("echo hello", before=BEFORE)["look"] is Outcome.OK
