"""What holds of every run: it repeats itself, keeps its word in test mode, and no file disturbs another."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from tests import kit
from tests.property.recording import Recording
from tests.property.strategies import trees

from saltern.language.diagnostics import CompileError
from saltern.language.events import Report

usual = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
REQUEST = {"sls": ("main",)}
Summary = dict[str, tuple[object, bool, bool, str]]


def ran(files: dict[str, str], *sls: str, test: bool = False) -> tuple[Report, Recording]:
    recording = Recording()
    try:
        report = kit.run_sls(files, test=test, request={"sls": sls or ("main",)}, registry=recording.registry)
    except CompileError:
        assume(False)
        raise
    return report, recording


def summary(report: Report) -> Summary:
    return {
        answer.chunk.tag: (one.outcome, one.changed, one.ran, re.sub(r"saltern-test-\w+", "", one.comment))
        for answer in report.answers
        if (one := answer.result)
    }


@usual
@given(trees())
def test_the_same_tree_gives_the_same_low_data_and_the_same_run(files: dict[str, str]) -> None:
    first, calls = ran(files)
    second, again = ran(files)
    assert [answer.chunk.tag for answer in first.answers] == [answer.chunk.tag for answer in second.answers]
    assert summary(first) == summary(second)
    assert calls.calls == again.calls
    one, two = (kit.low(files, request=REQUEST, registry=Recording().registry) for _ in range(2))
    assert json.dumps(one) == json.dumps(two)


@usual
@given(trees())
def test_low_data_survives_json(files: dict[str, str]) -> None:
    try:
        low = kit.low(files, request=REQUEST, registry=Recording().registry)
    except CompileError:
        assume(False)
        raise
    assert json.loads(json.dumps(low)) == low


@usual
@given(trees())
def test_a_test_run_never_calls_a_function_for_real(files: dict[str, str]) -> None:
    report, recording = ran(files, test=True)
    assert report.test
    assert all(test for _, _, test in recording.calls)


@usual
@given(trees())
def test_a_real_run_calls_each_state_for_real_at_most_once(files: dict[str, str]) -> None:
    _, recording = ran(files)
    real = [call for call in recording.calls if not call[2] and not call[0].endswith("mod_watch")]
    assert len(real) == len(set(real))


@usual
@given(trees(prefix="a_", wild=False, most=5), trees(prefix="b_", wild=False, most=5))
def test_unrelated_files_do_not_disturb_each_other(one: dict[str, str], other: dict[str, str]) -> None:
    files = {**one, **other}
    forth, _ = ran(files, "a_main", "b_main")
    back, _ = ran(files, "b_main", "a_main")
    assert summary(forth) == summary(back)
    alone, _ = ran(one, "a_main")
    assert {tag: it for tag, it in summary(forth).items() if tag in summary(alone)} == summary(alone)


@usual
@given(trees(wild=False), st.data())
def test_one_id_alone_runs_with_all_it_waits_for(files: dict[str, str], data: st.DataObject) -> None:
    whole, _ = ran(files)
    own = sorted({answer.chunk.id for answer in whole.answers if answer.chunk.fun != "mod_watch"})
    wanted = data.draw(st.sampled_from(own))
    part = kit.run_sls(files, request={"sls": ("main",), "id": wanted}, registry=Recording().registry)
    listeners = [answer.chunk.tag for answer in whole.answers if answer.chunk.fun == "mod_watch"]
    got = [answer.chunk.tag for answer in part.answers if answer.chunk.tag not in listeners]
    assert wanted in {answer.chunk.id for answer in part.answers}
    assert got == [answer.chunk.tag for answer in whole.answers if answer.chunk.tag in got]
    assert {tag: summary(whole)[tag] for tag in got} == {tag: summary(part)[tag] for tag in got}


@settings(max_examples=4, deadline=None, phases=[Phase.generate], derandomize=True)
@given(trees(wild=False))
def test_the_hash_seed_changes_nothing(files: dict[str, str]) -> None:
    with kit.tree(files) as made:
        root = os.path.join(made.place, "states", "base")
        command = [
            sys.executable,
            "-m",
            "saltern",
            "show",
            "lowstate",
            "main",
            "--file-root",
            root,
            "--out",
            "json",
        ]
        config = os.path.join(made.place, "config.yaml")
        with open(config, "w") as file:
            file.write("id: here\n")
        answers = [
            subprocess.run(
                [*command, "--config", config],
                env={**os.environ, "PYTHONHASHSEED": seed},
                capture_output=True,
                check=False,
            ).stdout
            for seed in ("0", "1", "77")
        ]
    assert answers[0] and len(set(answers)) == 1
