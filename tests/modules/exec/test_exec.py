"""``exec.lines`` with real programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests import kit
from tests.modules.bench import Bench

from saltern.language.result import Outcome, Result, SubResult
from saltern.modules.states import exec as module

GOOD = {"name": "one", "result": True, "changes": {}, "comment": "done"}


class Lines:
    """Runs Python code that prints lines; ``steps`` are those told while it ran."""

    def __init__(self, base: Path) -> None:
        self.bench = Bench(base, module)
        self.steps: list[SubResult] = []
        self.heard: Path | None = None  # is made when a step is heard

    def __call__(self, code: str, *, test: bool = False, emit: bool = True, **args: object) -> Result:
        argv = [sys.executable, "-c", code]
        chunk = kit.chunk("it", state="exec", fun="lines", more={"command": argv, **args})
        return self.bench.caller.call(chunk, chunk.args, test=test, emit=self.hear if emit else None)

    def hear(self, step: SubResult) -> None:
        self.steps.append(step)
        if self.heard is not None:
            self.heard.touch()

    def printing(self, *lines: object, emit: bool = True) -> Result:
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        return self("import sys; print(sys.stdin.read())", stdin="\n".join(texts), emit=emit)


@pytest.fixture
def lines(tmp_path: Path) -> Lines:
    return Lines(tmp_path)


def test_each_object_is_a_step(lines: Lines) -> None:
    result = lines.printing(
        GOOD,
        {
            **GOOD,
            "name": "two",
            "changes": {"a": 1},
            "duration": 1.5,
            "state": "shop",
            "fun": "up",
            "id": "x",
        },
        {**GOOD, "name": "three", "ran": False},
    )
    assert result.outcome is Outcome.OK
    assert result.comment == "3 steps: 1 changed, 1 ok, 1 skipped"
    one, two, three = lines.steps
    assert (one.name, one.comment) == ("one", "done")
    assert (two.state, two.fun, two.id, two.took, two.changes) == ("shop", "up", "x", 1.5, {"a": 1})
    assert not three.ran
    assert result.data["totals"] == {"ok": 1, "changed": 1, "skipped": 1}
    assert result.data["retcode"] == 0


def test_a_step_is_reported_while_the_program_runs(lines: Lines, tmp_path: Path) -> None:
    """The program does not end before its step was heard."""
    lines.heard = tmp_path / "heard"
    code = f"import os, time\nprint({json.dumps(GOOD)!r}, flush=True)\n"
    code += f"while not os.path.exists({str(lines.heard)!r}): time.sleep(0.02)"
    assert lines(code, timeout=100).outcome is Outcome.OK


def test_where_nobody_listens_the_steps_are_in_the_result(lines: Lines) -> None:
    result = lines.printing(GOOD, emit=False)
    assert [step.name for step in result.sub] == ["one"]


def test_steps_may_have_steps(lines: Lines) -> None:
    lines.printing({**GOOD, "sub_state_run": [{**GOOD, "name": "inner"}]})
    assert lines.steps[0].sub[0].name == "inner"


def test_a_malformed_object_is_a_failed_step_and_its_siblings_stand(lines: Lines) -> None:
    result = lines.printing({**GOOD, "changes": []}, GOOD)
    assert [step.outcome for step in lines.steps] == [Outcome.FAILED, Outcome.OK]
    assert "'Changes' should be a dictionary" in lines.steps[0].comment
    assert result.outcome is Outcome.OK


def test_other_lines_are_kept_in_the_log_and_warned_about_once(lines: Lines) -> None:
    result = lines.printing("hello", GOOD, "[1, 2]", "{broken", "")
    assert len(lines.steps) == 1
    assert result.warnings == ("3 lines are not JSON objects; all output is in the log",)
    assert "hello" in Path(str(result.data["log"])).read_text()


def test_output_without_any_object_is_one_step_that_shows_it(lines: Lines) -> None:
    result = lines("print('I speak something else'); raise SystemExit(1)")
    assert [(step.name, step.outcome) for step in lines.steps] == [("unparsed output", Outcome.FAILED)]
    assert "I speak something else" in lines.steps[0].comment
    assert result.outcome is Outcome.FAILED


def test_an_exit_code_is_the_programs_own_result(lines: Lines) -> None:
    code = f"print({json.dumps(GOOD)!r}); import sys; sys.exit('out of memory')"
    result = lines(code)
    assert result.outcome is Outcome.FAILED
    assert "ended with exit code 1; 1 step: 1 ok" in result.comment
    assert "out of memory" in result.comment
    assert str(result.data["log"]) in result.comment
    assert lines("raise SystemExit(3)", success_retcodes=[3]).outcome is Outcome.OK
    assert "needs numbers" in lines("", success_retcodes=["many"]).comment


@pytest.mark.parametrize("how", ["raise ValueError('no space')", "sys.exit('ValueError: no space')"])
@pytest.mark.parametrize("kept", [True, False], ids=["its output comes last", "its output comes first"])
def test_a_program_that_fails_shows_its_error_and_not_its_last_step(
    lines: Lines, how: str, kept: bool
) -> None:
    code = f"import sys; print({json.dumps(GOOD)!r}, flush={not kept}); {how}"
    result = lines(code, env={"PYTHONUNBUFFERED": ""})
    assert "ValueError: no space" in result.comment
    assert "{" not in result.comment


def test_a_program_that_fails_after_a_failed_step_shows_its_error_as_well(lines: Lines) -> None:
    failed = {**GOOD, "result": False}
    result = lines(f"print({json.dumps(failed)!r}); raise ValueError('no space')")
    assert "1 step: 1 failed\nValueError: no space\n" in result.comment
    assert "chatter" not in lines(f"print('chatter'); print({json.dumps(failed)!r}); exit(1)").comment


def test_one_that_says_on_stdout_what_is_wrong_shows_that(lines: Lines) -> None:
    code = f"print('the disk is full'); print({json.dumps(GOOD)!r}); raise SystemExit(1)"
    assert "the disk is full" in lines(code).comment
    assert "{" not in lines(code).comment


def test_the_program_may_speak_for_the_whole(lines: Lines) -> None:
    result = lines.printing(
        {"event": "start", "version": 1, "data": {"release": "7"}},
        GOOD,
        {"event": "end", "result": False, "comment": "half of it", "changes": {"a": 1}},
    )
    assert result.outcome is Outcome.FAILED
    assert result.comment.startswith("half of it\n1 step")
    assert result.changes == {"a": 1}
    assert result.data["release"] == "7"


def test_what_a_later_version_says_is_reported_as_unknown(lines: Lines) -> None:
    result = lines.printing({"event": "start", "version": 2}, {"event": "progress", "percent": 3}, GOOD)
    assert result.outcome is Outcome.OK
    assert result.warnings == (
        "it reported unknown events: progress",
        "it uses version 2 of the step format, newer than 1",
    )


def test_in_test_mode_it_is_not_run_unless_it_can_hold_still(lines: Lines, tmp_path: Path) -> None:
    made = tmp_path / "made"
    code = f"open({str(made)!r}, 'w')"
    result = lines(code, test=True)
    assert result.outcome is Outcome.WOULD_CHANGE
    assert not made.exists()
    lines(code, test=True, dry_run=True)
    assert made.exists()


def test_a_dry_run_is_asked_for_by_a_variable_and_by_arguments(lines: Lines) -> None:
    code = (
        "import json, os, sys; print(json.dumps({'name': os.environ['SALTERN_TEST'] + ' '.join(sys.argv[1:]),"
        " 'result': None, 'changes': {'a': 1}, 'comment': ''}))"
    )
    assert lines(code, test=True, test_args=["--dry"]).outcome is Outcome.WOULD_CHANGE
    lines(code)
    assert [step.name for step in lines.steps] == ["1--dry", "0"]


def test_half_characters_and_bytes_that_are_no_text_do_no_harm(lines: Lines) -> None:
    code = (
        "import os\n"
        'os.write(1, b\'{"name": "a\\\\udc80", "result": true, "changes": {}, "comment": "x"}\\n\')\n'
        'os.write(1, b\'{"name": "caf\\xe9", "result": true, "changes": {}, "comment": ""}\\n\')\n'
    )
    result = lines(code)
    assert lines.steps[0].name == "a\udc80"
    assert result.warnings == ("1 line is not a JSON object; all output is in the log",)


def test_a_timeout_ends_it_and_keeps_what_was_reported(lines: Lines) -> None:
    code = f"import time\nprint({json.dumps(GOOD)!r}, flush=True)\ntime.sleep(60)"
    result = lines(code, timeout=1)
    assert "took longer than its timeout and was killed" in result.comment
    assert len(lines.steps) == 1


def test_no_shell_is_involved(lines: Lines) -> None:
    echo = '{"name": "%s", "result": true, "changes": {}, "comment": ""}\n'
    result = lines("", command=["printf", echo, "$(id); `id`"])
    assert lines.steps[0].name == "$(id); `id`"
    assert result.outcome is Outcome.OK
    bench = lines.bench
    chunk = kit.chunk("it", state="exec", fun="lines", name="printf '%s' 'a; b'")
    assert "it printed no JSON" in bench.caller.call(chunk, {}, test=False).sub[0].comment


def test_a_file_of_the_tree_is_a_program(lines: Lines) -> None:
    (lines.bench.tree / "steps.py").write_text(f"print({json.dumps(GOOD)!r})")
    assert lines("", command=[sys.executable, "salt://steps.py"]).outcome is Outcome.OK
    assert "is not in the environment 'base'" in lines("", command=["salt://none"]).comment


def test_a_missing_program_and_an_empty_command_are_reported(lines: Lines) -> None:
    assert "/no/such: no such file" in lines("", command=["/no/such"]).comment
    assert lines("", command=[]).comment == "the command is empty"
    assert "cannot split" in lines("", command="a 'b").comment


def test_many_steps_are_read_at_once(lines: Lines) -> None:
    code = f"for n in range(20000): print({json.dumps(GOOD)!r})"
    assert lines(code).comment == "20000 steps: 20000 ok"
