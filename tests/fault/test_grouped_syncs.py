"""States that nobody is connected with are synced many at a time: what a loss of power takes of them is
done again, and nothing else is."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache

from tests.fault.machine import DEAD, Machine, dies_at, keeps, lose, machine, points_of
from tests.fault.reference import THING

LOOSE = 50
EVERY = 5 if os.environ.get("SALTERN_FAULT_ALL") else 83  # of its points, one so often
FILES = {
    "_states/thing.py": THING,
    "main.sls": """
{% set at = pillar['at'] %}
{% for n in range(1, 26) %}
loose-{{ n }}:
  thing.made: [{name: {{ at }}/loose-{{ n }}}]
{% endfor %}
once:
  cmd.run: [{name: echo once >> {{ at }}/log}]
quiet:
  thing.steady: [{name: quiet}]
held:
  cmd.run: [{name: echo held >> {{ at }}/log}, {onchanges: [{thing: quiet}]}]
heard:
  thing.made: [{name: {{ at }}/heard}]
reacts:
  cmd.run: [{name: echo reacts >> {{ at }}/log}, {onchanges: [{thing: heard}]}]
{% for n in range(26, 51) %}
loose-{{ n }}:
  thing.made: [{name: {{ at }}/loose-{{ n }}}]
{% endfor %}
""",
}


@cache
def points() -> list[str]:
    return points_of(lambda one, watch: one.apply(watch), FILES)


def finished(one: Machine) -> dict[str, dict[str, object]]:
    if not one.summaries():  # all was lost: it never began
        one.apply()
    while one.broken():
        assert one.resume().code in (0, 2)
    return {str(answer["__id__"]): answer for answer in one.shown().values()}


def test_many_states_share_a_sync() -> None:
    """Fifty that stand by themselves, three commands, and one that is reacted to."""
    counts = Counter(points())
    assert counts["journal.saved"] + counts["journal.synced"] > LOOSE
    assert counts["journal.synced"] <= 12


def test_the_end_of_a_state_is_written_with_the_begin_of_the_next() -> None:
    """One write for each of the fifty; those that others react to, and commands, are written at once."""
    counts = Counter(points())
    assert counts["journal.saved"] + counts["journal.synced"] < 2 * LOOSE


def test_a_state_that_only_waits_for_others_shares_a_sync() -> None:
    waits = "".join(
        f"waits-{n}:\n  thing.made: [{{name: {{{{ at }}}}/waits-{n}}}, {{require: [{{thing: loose-{n}}}]}}]\n"
        for n in range(1, 21)
    )
    files = FILES | {"main.sls": FILES["main.sls"] + waits}
    found = Counter(points_of(lambda one, watch: one.apply(watch), files))
    assert found["journal.synced"] <= Counter(points())["journal.synced"] + 2


def test_a_kill_loses_nothing_of_them() -> None:
    for number in range(len(points()) // 3, len(points()), EVERY):
        with machine(FILES) as one:
            assert one.apply(dies_at(number)).code == DEAD
            told = finished(one)
            assert one.log() == Counter(["once", "reacts"]) or _indeterminate(told)
            again = [name for name, answer in told.items() if answer.get("resumed")]
            assert len(again) <= 1, f"{points()[number]}: {again}"
            assert all((one.at / f"loose-{n}").exists() for n in range(1, LOOSE + 1))


def test_a_loss_of_power_repeats_at_most_what_was_not_synced() -> None:
    for number in range(0, len(points()), EVERY):
        with machine(FILES) as one:
            copy = one.base / "synced"
            one.apply(dies_at(number, keeps(one, copy)))
            lose(one, copy)
            told = finished(one)
            if _indeterminate(told):
                continue
            assert one.log() == Counter(["once", "reacts"]), points()[number]
            assert all(answer["result"] is True for answer in told.values())
            for name, answer in told.items():
                if name.startswith("loose") and not answer.get("resumed"):
                    assert answer["changes"], f"{name} at {points()[number]}"


def _indeterminate(told: dict[str, dict[str, object]]) -> bool:
    """A command that was running is never guessed at."""
    return any(answer.get("indeterminate") for answer in told.values())
