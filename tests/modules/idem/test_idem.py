"""Real runs of Idem, with a small plugin: every word, what it runs again, and all that goes wrong."""

from __future__ import annotations

import os
import signal
import stat
from typing import Any

import pytest
from tests.modules.engine import CHANGED, FAILED, NOT_REACHED, OK, WOULD, Engine, unhurried

from saltern.language.result import Outcome, Result

QUICK: dict[str, Any] = {"reconciler": "none"}


def state(engine: Engine, text: str, *, test: bool = False, **args: object) -> Result:
    file = engine.base / "main.sls"
    file.write_text(text)
    return engine.run(str(file), test=test, **args)


def write(engine: Engine) -> str:
    return f"write:\n  trial.present:\n    - path: {engine.base}/made\n    - content: one\n"


def test_test_mode_is_idems_own_and_the_second_run_has_nothing_to_do(engine: Engine) -> None:
    foreseen = state(engine, write(engine), test=True)
    would = engine["write"]
    assert (foreseen.outcome, foreseen.comment) == (Outcome.WOULD_CHANGE, "1 state: 1 would change")
    assert engine.words() == {"write": WOULD}
    assert not (engine.base / "made").exists()
    done = state(engine, write(engine), **QUICK)
    assert (done.outcome, done.comment) == (Outcome.OK, "1 state: 1 changed")
    step = engine["write"]
    assert (step.state, step.fun, step.comment) == ("trial", "present", "written")
    assert step.changes == would.changes
    assert step.timed
    assert state(engine, write(engine), **QUICK).comment == "1 state: 1 ok"


EVERY_WORD = """
fine: {plain.nop: []}
fails: {plain.fail: []}
bursts: {plain.burst: []}
held:
  plain.nop:
    - require: [{plain: fails}]
unknown: {none.nop: []}
"""


def test_every_word_and_a_failure_that_idem_does_not_tell_in_its_exit_code(engine: Engine) -> None:
    result = state(engine, EVERY_WORD + write(engine), **QUICK)
    assert engine.words() == {
        "fine": OK,
        "fails": FAILED,
        "bursts": FAILED,
        "held": NOT_REACHED,
        "unknown": NOT_REACHED,
        "write": CHANGED,
    }
    assert engine["fails"].comment == "no\nway"
    assert "ValueError: burst" in engine["bursts"].comment
    assert 'Result of require plain_|-fails_|-fails_|-fail is "False"' in engine["held"].comment
    assert "Could not find function to enforce none" in engine["unknown"].comment
    assert (result.outcome, result.data["retcode"]) == (Outcome.FAILED, 0)
    assert "exit code 0 (which it gives also when states fail)" in result.comment
    assert f"the log is {result.data['log']}" in result.comment
    assert "ID: fails" in engine.log(result)


def test_what_idem_runs_again_is_reported_once_when_it_is_settled(engine: Engine) -> None:
    result = state(engine, "fine: {plain.nop: []}\nfails: {plain.fail: []}\n" + write(engine))
    assert engine.words() == {"fine": OK, "fails": FAILED, "write": CHANGED}
    assert len(engine.told) == 3
    order = [step.id for step in engine.told]
    assert order.index("fine") < order.index("fails")  # which it runs several times
    assert result.outcome is Outcome.FAILED


def test_references_sources_parameters_and_a_target_reach_idem(engine: Engine) -> None:
    place = engine.base / "idem"
    place.mkdir()
    (place / "web.sls").write_text("{{ params.get('word') }}: {plain.nop: []}\nother: {plain.nop: []}\n")
    (place / "values.sls").write_text("word: hello\n")
    engine.run("web", sls=["web"], source_dir=str(place), params=["values"], target="hello", **QUICK)
    assert list(engine.words()) == ["hello"]


def test_a_file_of_the_tree(engine: Engine) -> None:
    (engine.bench.tree / "a.sls").write_text("fine: {plain.nop: []}\n")
    assert engine.run("salt://a.sls", test=False, **QUICK).outcome is Outcome.OK
    assert "not in the environment" in engine.run("salt://none.sls").comment


def test_secrets_are_on_no_command_line_and_sensitive_values_in_no_result(engine: Engine) -> None:
    text = (
        "look: {plain.look: []}\n" + write(engine) + "    - password: hunter2\n    - sensitive: [password]\n"
    )
    result = state(engine, text, acct_key="hunter2-key", **QUICK)
    assert "saltern_idem.py" in engine["look"].comment
    assert engine["write"].changes == {"old": {}, "new": {"content": "one"}}
    assert "hunter2" not in repr(result) + repr(engine.told) + engine.log(result)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [\n", "main"),
        ("{{ 1() }}: {plain.nop: []}\n", "not callable"),
        ("a:\n  plain.nop:\n    - require: [{plain: none}]\n", "none"),
    ],
)
def test_files_that_cannot_be_read_are_a_failure_that_says_why(engine: Engine, text: str, said: str) -> None:
    result = state(engine, text, **QUICK)
    assert result.outcome is Outcome.FAILED
    assert said in result.comment
    assert "the log is" in result.comment
    assert "\x1b" not in result.comment


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"bin_dir": "/nonexistent"}, "idem was not found in /nonexistent: install it (pip install idem"),
        ({"reconciler": "nobody"}, "invalid choice"),
    ],
)
def test_bad_input_is_reported(engine: Engine, args: dict[str, Any], said: str) -> None:
    result = state(engine, write(engine), **args)
    assert result.outcome is Outcome.FAILED
    assert said in result.comment
    assert engine.told == []


def test_huge_and_odd_output_is_cut_in_the_result_and_whole_in_the_log(engine: Engine) -> None:
    result = state(engine, "much: {plain.much: []}\n", **QUICK)
    assert engine.words() == {"much": OK}
    assert len(repr(engine["much"])) < 200_000
    assert "characters left out" in engine["much"].comment
    assert os.path.getsize(str(result.data["log"])) > 50_000_000


def slow(engine: Engine) -> str:
    after = "{require: [{plain: quick}]}"
    return (
        "quick: {plain.nop: []}\n"
        f"slow: {{plain.nop: [{{seconds: 4000}}, {{flag: '{engine.base}/begun'}}, {after}]}}\n"
        "after: {plain.nop: [{require: [{plain: slow}]}]}\n"
    )


def test_a_timeout_ends_idem_and_tells_what_it_had_planned(engine: Engine) -> None:
    timeout = unhurried(lambda: state(engine, "quick: {plain.nop: []}\n"), 10)
    result = state(engine, slow(engine), timeout=timeout)
    assert "took longer than its timeout" in result.comment
    assert engine.words() == {"quick": OK, "slow": NOT_REACHED, "after": NOT_REACHED}
    assert engine["slow"].comment == "not reached, or not finished: Idem ended before"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_idem_that_is_interrupted_is_a_failure_that_says_so(
    engine: Engine, number: signal.Signals
) -> None:
    (engine.base / "main.sls").write_text(slow(engine))
    result = engine.interrupted(engine.base / "begun", number, str(engine.base / "main.sls"))
    assert result.outcome is Outcome.FAILED
    assert engine.words() == {"quick": OK, "slow": NOT_REACHED, "after": NOT_REACHED}


def test_a_settled_state_is_reported_when_it_is_done(engine: Engine) -> None:
    until = f"{{until: '{engine.base}/heard-1'}}"  # b ends only if a was told before
    state(engine, f"a: {{plain.nop: []}}\nb: {{plain.nop: [{until}]}}\n")
    assert engine.words() == {"a": OK, "b": OK}


def test_an_idem_that_tells_nothing_is_one_step_that_says_so(engine: Engine) -> None:
    fake = engine.base / "bin"
    fake.mkdir()
    (fake / "idem").write_text("no script")
    (fake / "python3").write_text("#!/bin/sh\necho all is well\n")
    for name in ("idem", "python3"):
        (fake / name).chmod(stat.S_IRWXU)
    result = state(engine, write(engine), bin_dir=str(fake))
    assert result.outcome is Outcome.OK
    assert [step.name for step in engine.told] == ["unparsed output"]
