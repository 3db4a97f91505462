"""The order of a run against the seed's rule, told a second time in ``naive``."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, assume, event, given, settings
from tests import kit
from tests.property.naive import KINDS, Cycle, on_cycles, tag, targets, walked
from tests.property.recording import Recording
from tests.property.strategies import trees

from saltern.compiler.compile import CompilerOptions, compile_high, compile_low
from saltern.engine.targets import targets as engine_targets
from saltern.language.diagnostics import CompileError, Diagnostics
from saltern.language.result import Outcome
from saltern.plan.in_patterns import spell_out

usual = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
REQUEST = {"sls": ("main",)}


def compiled(files: dict[str, str]) -> list[dict[str, object]]:
    try:
        return kit.low(files, request=REQUEST, registry=Recording().registry)
    except CompileError:
        assume(False)
        raise


@usual
@given(trees())
def test_the_sequence_is_the_one_of_the_seed(files: dict[str, str]) -> None:
    low = compiled(files)
    shown = kit.order(files, request=REQUEST, registry=Recording().registry)
    got = [(str(row["state"]).partition(".")[0], str(row["id"]), str(row["name"])) for row in shown]
    assert got == walked(low)


@usual
@given(trees())
def test_low_data_is_sorted_by_order_and_ties_by_the_words_of_the_state(files: dict[str, str]) -> None:
    low = compiled(files)
    keys = [(one["order"], f"{one['state']}{one['name']}{one['fun']}") for one in low]
    assert keys == sorted(keys)


@usual
@given(trees())
def test_no_state_runs_before_what_it_waits_for(files: dict[str, str]) -> None:
    low = compiled(files)
    report = kit.run_sls(files, request=REQUEST, registry=Recording().registry)
    answers = {(one.chunk.state, one.chunk.id, one.chunk.name): one for one in report.answers}
    for owner in low:
        for kind in KINDS:
            for item in owner.get(kind, []):  # type: ignore[attr-defined]
                for place in targets(low, item):
                    first, second = answers[tag(low[place])], answers[tag(owner)]
                    if kind != "prereq":
                        assert first.number < second.number
                    elif first.result.outcome is not Outcome.FAILED:
                        assert first.number > second.number


@usual
@given(trees())
def test_run_numbers_have_no_gaps(files: dict[str, str]) -> None:
    low = compiled(files)
    report = kit.run_sls(files, request=REQUEST, registry=Recording().registry)
    assert [answer.number for answer in report.answers] == list(range(len(report.answers)))
    own = [answer for answer in report.answers if answer.chunk.fun != "mod_watch"]
    assert sorted((a.chunk.state, a.chunk.id, a.chunk.name) for a in own) == sorted(map(tag, low))


STORY = re.compile(r"(\S+) has (\w+) on (?:sls \S+ \(with (\S+) in it\)|([^\s;]+))")


def uncompiled(files: dict[str, str]) -> list[dict[str, object]]:
    """Low data as far as it can be had without a plan."""
    with kit.tree(files, registry=Recording().registry) as made:
        session, found = made.session(), Diagnostics()
        refs, loader = engine_targets(session, kit.request_for(files, REQUEST), found)
        high = compile_high(refs, loader, CompilerOptions(), found)
        made_of = compile_low(high, CompilerOptions(), session.caller.reacts, found)
        low = [chunk.low() for chunk in made_of.chunks]
        spell_out(low, made_of.chunks, made_of.rendered)
        return low


@usual
@given(trees(wild=True))
def test_a_cycle_is_reported_when_there_is_one_and_names_only_its_own_states(files: dict[str, str]) -> None:
    low = uncompiled(files)
    with kit.tree(files, registry=Recording().registry) as made:
        outcome = kit.attempt(made, kit.request_for(files, REQUEST))
    event("compiles" if outcome.report else "does not compile")
    try:
        walked(low)
    except Cycle:
        assert {problem.code for problem in outcome.problems} == {"requisite-cycle"}
        for problem in outcome.problems:
            told = {
                name for match in STORY.findall(problem.what) for name in (match[0], match[2] or match[3])
            }
            assert told and any(told <= group for group in on_cycles(low)), problem.what
    else:
        assert outcome.report is not None, outcome.texts
