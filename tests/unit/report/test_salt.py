"""The dictionary and the JSON that scripts of Salt users read."""

from __future__ import annotations

import io
import json
import re
import time
from collections import OrderedDict
from datetime import date
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from saltern.language.diagnostics import Diagnostic
from saltern.language.events import Report
from saltern.language.result import Outcome
from saltern.language.source import Mark
from saltern.report.outputs import OutputOptions
from saltern.report.salt import dumps, to_dict, write, write_problems

if TYPE_CHECKING:
    from tests.unit.report.conftest import Make

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_a_return_has_salts_keys_and_no_other(make: Make) -> None:
    answer = make("conf", name="/etc/x", changes={"diff": "new"}, number=3, took=0.0123456)
    assert to_dict(Report(answers=[answer])) == {
        "file_|-conf_|-/etc/x_|-managed": {
            "name": "/etc/x",
            "result": True,
            "changes": {"diff": "new"},
            "comment": "fine",
            "__run_num__": 3,
            "__sls__": "web",
            "__id__": "conf",
            "start_time": time.strftime("%H:%M:%S", time.localtime(1_704_110_400)) + ".250000",
            "duration": 12.346,
        }
    }


def test_what_was_not_called_has_no_time(make: Make) -> None:
    (shaped,) = to_dict(Report(answers=[make(timed=False)])).values()
    assert not {"start_time", "duration"} & set(shaped)


def test_marks_appear_only_where_they_apply(make: Make) -> None:
    answer = make(
        ran=False, outcome=Outcome.FAILED, parallel=True, warnings=("old",), extra={"root_cause": ["t"]}
    )
    answer = replace(answer, parent="p", depth=1, result=replace(answer.result, quiet=True, data={"a": 1}))
    (shaped,) = to_dict(Report(answers=[answer])).values()
    marks = {key: shaped[key] for key in list(shaped)[9:]}
    assert marks == {
        "__state_ran__": False,
        "warnings": ["old"],
        "skip_watch": True,
        "data": {"a": 1},
        "__parallel__": True,
        "__parent__": "p",
        "__depth__": 1,
        "__path__": "web",
        "root_cause": ["t"],
    }


def test_extra_keys_replace_nothing(make: Make) -> None:
    (shaped,) = to_dict(Report(answers=[make(extra={"comment": "mine", "pchanges": {}})])).values()
    assert (shaped["comment"], shaped["pchanges"]) == ("fine", {})


def test_equal_tags_do_not_hide_each_other(make: Make) -> None:
    report = Report(
        answers=[make("a"), make("a", number=1), make("a#2", name="a", number=2), make("a", number=3)]
    )
    tags = list(to_dict(report))
    assert tags[1] == "file_|-a#2_|-a_|-managed"
    assert len(set(tags)) == 4


@given(values)
def test_any_data_comes_back_from_json(value: object) -> None:
    assert json.loads(dumps(value)) == value
    assert json.loads(dumps(value, indent=True)) == value


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_comes_back_from_json_even_half_characters(text: str) -> None:
    assert json.loads(dumps({"text": text})) == {"text": text}


def test_odd_values_become_text_or_lists() -> None:
    odd = {
        "set": {2, 1},
        "bytes": b"x\xff",
        "order": OrderedDict(a=1),
        "day": date(2024, 1, 2),
        "object": re.compile("x"),
        "nan": float("nan"),
        "big": 2**80,
        "outcome": Outcome.OK,
        "mark": Mark("a", 1),
        1: {None: 1, True: 2, (1, 2): 3, b"k": 4},
    }
    assert json.loads(dumps(odd)) == {
        "set": [1, 2],
        "bytes": "x\\xff",
        "order": {"a": 1},
        "day": "2024-01-02",
        "object": "re.compile('x')",
        "nan": None,
        "big": 2**80,
        "outcome": True,
        "mark": {"file": "a", "line": 1, "column": 0},
        "1": {"null": 1, "true": 2, "(1, 2)": 3, "k": 4},
    }


def test_a_loop_is_cut() -> None:
    loop: dict[str, object] = {}
    loop["again"] = [loop, loop]
    assert json.loads(dumps(loop)) == {"again": ["…", "…"]}


def test_json_for_a_terminal_is_indented_and_tame() -> None:
    out = io.StringIO()
    write_problems([Diagnostic(code="c", what="bad \x9b31m")], out, OutputOptions(indent=True))
    assert "\x9b" not in out.getvalue()
    assert out.getvalue().startswith('{\n    "local": [')
    assert json.loads(out.getvalue()) == {"local": ["bad \x9b31m [c]"]}


def test_a_report_is_one_line_under_its_label(make: Make) -> None:
    out = io.StringIO()
    write(Report(answers=[make()]), out, OutputOptions())
    assert out.getvalue().count("\n") == 1
    assert list(json.loads(out.getvalue())["local"]) == ["file_|-web_|-web_|-managed"]
