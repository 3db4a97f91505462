"""A block that could not be rendered has been used, also for whoever goes on with the run."""

from __future__ import annotations

from tests.fault.machine import DEAD, Machine, die, machine

FILES = {
    "main.sls": """
first:
  test.succeed_without_changes: [{delayed_render: [{block: odd}]}]
between:
  cmd.run: [{name: "echo between >> {{ pillar['at'] }}/log"}]
second:
  test.succeed_without_changes: [{delayed_render: [{block: odd}]}]

#!delayed_block odd
{{ nobody.knows.this }}
#!end_delayed_block odd
"""
}


def test_the_limit_of_a_block_counts_what_an_earlier_process_could_not_render() -> None:
    with machine(FILES) as one:
        assert one.apply().code == 2
        whole = comments(one)
    assert "may be rendered once" in whole["odd"]
    with machine(FILES) as one:
        seen: list[str] = []

        def after_two_states(name: str) -> None:
            seen.append(name)
            if seen.count("state.settled") == 2:
                die()

        assert one.apply(after_two_states).code == DEAD
        assert one.resume().code == 2
        assert comments(one) == whole


def comments(one: Machine) -> dict[str, str]:
    return {str(answer["__id__"]): str(answer["comment"]) for answer in one.shown().values()}
