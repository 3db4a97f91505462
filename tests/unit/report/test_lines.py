"""One JSON object per event."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from saltern.language.diagnostics import Diagnostic
from saltern.language.events import ChunkFinished, ChunkStarted, Fired, Report, RunFinished, RunStarted
from saltern.language.result import Outcome
from saltern.language.source import Mark
from saltern.report.lines import Lines, write, write_data, write_problems
from saltern.report.outputs import OutputOptions

if TYPE_CHECKING:
    from tests.unit.report.conftest import Make


def read(out: io.StringIO) -> list[Any]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_every_event_is_a_line_at_once(make: Make) -> None:
    out = io.StringIO()
    tell, answer = Lines(out), make("a", Outcome.FAILED, number=0)
    tell(RunStarted(total=1, test=True, started=5.0))
    tell(ChunkStarted(answer.chunk, 6.0))
    assert [line["event"] for line in read(out)] == ["run-started", "chunk-started"]
    tell(ChunkFinished(answer))
    tell(ChunkFinished(answer))
    tell(Fired("my/tag", {"a": b"b"}))
    tell(RunFinished(took=1.5))
    assert len(read(out)) == 5
    tell.close()
    run, start, end, again, fired, last = read(out)
    assert run == {"event": "run-started", "total": 1, "test": True, "time": 5.0}
    assert start["tag"] == end["tag"] == "file_|-a_|-a_|-managed"
    assert again["tag"] == "file_|-a#2_|-a_|-managed"
    assert end["return"]["result"] is False
    assert fired == {"event": "fired", "tag": "my/tag", "data": {"a": "b"}}
    assert (last["event"], last["took"], last["exit_code"]) == ("run-finished", 1.5, 2)
    assert last["totals"]["failed"] == 2


def test_the_report_knows_what_was_forgiven(make: Make) -> None:
    out, answer = io.StringIO(), make(outcome=Outcome.FAILED)
    report = Report(answers=[answer], forgiven=frozenset({answer.number}))
    write(report, out, OutputOptions())
    assert read(out)[-1]["exit_code"] == 0
    Lines(out).close(report, exit_code=4)
    assert read(out)[-1]["exit_code"] == 4


def test_a_broken_run_has_no_last_line() -> None:
    out = io.StringIO()
    Lines(out).close()
    assert out.getvalue() == ""


def test_data_is_a_line_per_item_and_a_problem_is_its_parts() -> None:
    out = io.StringIO()
    write_data([{"a": "x\ny"}, 2], out, OutputOptions())
    write_problems([Diagnostic(code="c", what="w", where=Mark("f", 2, 3))], out, OutputOptions())
    first, second, problem = read(out)
    assert (first, second) == ({"a": "x\ny"}, 2)
    assert (problem["event"], problem["file"], problem["line"], problem["code"]) == ("problem", "f", 2, "c")
