"""A dictionary of another machine becomes a report, and that report the same dictionary."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from saltern.language.events import Report
from saltern.language.result import Outcome
from saltern.report.from_salt import from_dict, is_states
from saltern.report.outputs import OutputOptions, write
from saltern.report.salt import to_dict

if TYPE_CHECKING:
    from tests.unit.report.conftest import Make

words = st.text("abcxyz./:- ", min_size=1, max_size=8)
clock = st.builds("{:02d}:{:02d}:{:02d}.{:06d}".format, st.integers(0, 23), st.integers(0, 59),
                  st.integers(0, 59), st.integers(0, 999_999))  # fmt: skip


@st.composite
def returns(draw: st.DrawFn) -> dict[str, dict[str, object]]:
    """Such dictionaries as runs without frames make."""
    found: dict[str, dict[str, object]] = {}
    for number in range(draw(st.integers(0, 5))):
        id_, name = f"{draw(words)}{number}", draw(words)
        one: dict[str, object] = {
            "name": name,
            "result": draw(st.sampled_from([True, False, None])),
            "changes": draw(st.dictionaries(words, st.integers(), max_size=2)),
            "comment": draw(words),
            "__run_num__": number,
            "__sls__": draw(st.none() | words),
            "__id__": id_,
        }
        if draw(st.booleans()):
            one |= {"start_time": draw(clock), "duration": draw(st.integers(0, 10**6)) / 1000}
        if draw(st.booleans()):
            one["__state_ran__"] = False
        if draw(st.booleans()):
            one["warnings"] = ["old"]
        if one["result"] is False and one.get("__state_ran__") is not False and draw(st.booleans()):
            one["__where__"] = "web/init.sls:14:3"
        if draw(st.booleans()):
            one["root_cause"] = ["t"]
        found[f"file_|-{id_}_|-{name}_|-managed"] = one
    return found


@given(returns())
def test_reading_and_writing_again_changes_nothing(data: dict[str, dict[str, object]]) -> None:
    assert is_states(data)
    assert to_dict(from_dict(data)) == data


def test_a_failure_keeps_its_line(make: Make) -> None:
    failed = make("nginx", outcome=Outcome.FAILED)
    (shaped,) = to_dict(Report(answers=[failed])).values()
    assert shaped["__where__"] == str(failed.chunk.mark())
    (again,) = from_dict({failed.tag: shaped}).answers
    assert again.chunk.mark() == failed.chunk.mark()


def test_the_report_looks_like_one_of_here(make: Make) -> None:
    report = Report(
        answers=[make("conf", changes={"diff": "new"}), make("x", outcome=Outcome.FAILED, number=1)]
    )
    options, here, there = OutputOptions(), io.StringIO(), io.StringIO()
    write(report, here, options)
    write(from_dict(to_dict(report)), there, options)
    assert there.getvalue() == here.getvalue()


def test_values_of_another_shape_are_no_states() -> None:
    assert not is_states(["Rendering SLS failed"])
    assert not is_states({"a": 1})
    assert not is_states({"file_|-a_|-a_|-managed": "no"})


def test_what_salt_writes_in_another_way_is_understood() -> None:
    odd = {"a_|-b_|-c_|-d": {"result": 3, "comment": ["x", "y"], "changes": ["z"], "duration": "12 ms"}}
    (answer,) = from_dict(odd).answers
    assert (answer.result.outcome, answer.result.comment, answer.took) == (Outcome.FAILED, "x\ny", 0.012)
    assert answer.result.changes == {"changes": ["z"]}
