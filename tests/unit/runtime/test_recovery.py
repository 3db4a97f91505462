"""What becomes of a state in doubt: the whole table, and what must hold whatever the rows say."""

from __future__ import annotations

from itertools import product

import pytest

from saltern.runtime.recovery import MOST_RECOVERIES, Decision, Doubt, Safety, Traces, decide

EVERY = [
    Doubt(
        safety=safety,
        by_programs=by_programs,
        tries=tries,
        cancelled=cancelled,
        recoveries=recoveries,
        traces=Traces(begun, ended, same_boot, live),
    )
    for safety, by_programs, tries, cancelled, recoveries, (begun, ended), same_boot, live in product(
        Safety,
        (False, True),
        (False, True),
        (False, True),
        (0, MOST_RECOVERIES, MOST_RECOVERIES + 1),
        ((0, 0), (1, 0), (1, 1), (2, 1), (2, 2)),
        (False, True),
        (False, True),
    )
]
BEGINS = {Decision.SPAWN, Decision.AGAIN, Decision.PROBE}


@pytest.mark.parametrize(
    ("safety", "traces", "wanted"),
    [
        (Safety.ONCE, Traces(0, 0, True), Decision.SPAWN),
        (Safety.ONCE, Traces(0, 0, False), Decision.INDETERMINATE),
        (Safety.ONCE, Traces(1, 0, True, True), Decision.ATTACH),
        (Safety.ONCE, Traces(0, 0, True, True), Decision.ATTACH),
        (Safety.ONCE, Traces(1, 1, True), Decision.TAKE),
        (Safety.ONCE, Traces(1, 1, False), Decision.TAKE),
        (Safety.ONCE, Traces(1, 0, True), Decision.INDETERMINATE),
        (Safety.ONCE, Traces(1, 0, False), Decision.INDETERMINATE),
        (Safety.VERIFIED, Traces(1, 0, True), Decision.PROBE),
        (Safety.VERIFIED, Traces(1, 0, False), Decision.PROBE),
        (Safety.IDEMPOTENT, Traces(1, 0, True), Decision.AGAIN),
        (Safety.IDEMPOTENT, Traces(1, 0, False), Decision.AGAIN),
    ],
)
def test_a_row_of_the_design_decides_as_it_says(safety: Safety, traces: Traces, wanted: Decision) -> None:
    assert decide(Doubt(safety=safety, by_programs=True, traces=traces)) is wanted


def test_every_combination_keeps_the_rules() -> None:
    for doubt in EVERY:
        _holds(doubt)


def _holds(doubt: Doubt) -> None:
    decision = decide(doubt)
    traces = doubt.traces
    if doubt.recoveries > MOST_RECOVERIES:
        assert decision is Decision.QUARANTINE
        return
    assert (decision is Decision.ATTACH) is traces.live
    if doubt.cancelled:
        assert decision not in BEGINS, "nothing begins any more"
    if decision in BEGINS and doubt.safety is Safety.ONCE:
        assert decision is Decision.SPAWN
        assert traces.begun == 0, "what may run once has not run"
        assert traces.same_boot, "a boot forgets what was not synced"
        assert doubt.by_programs
    if decision is Decision.TAKE:
        assert traces.begun == traces.ended > 0
        assert traces.same_boot or not doubt.tries, "another attempt may have been forgotten"


def test_an_answer_that_is_known_is_taken_even_when_all_is_cancelled() -> None:
    doubt = Doubt(safety=Safety.ONCE, by_programs=True, cancelled=True, traces=Traces(1, 1, True))
    assert decide(doubt) is Decision.TAKE
