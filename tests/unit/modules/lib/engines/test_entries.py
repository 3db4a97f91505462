"""Every rule of return validation, for the entries of ``sub_state_run``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.compat.results import to_result
from saltern.language.result import Outcome
from saltern.modules.lib.engines.entries import DEEPEST, moment, step, steps

LOW = {"name": "n", "state": "s", "__id__": "i", "fun": "f"}
GOOD = {"low": LOW, "result": True, "changes": {}, "comment": "done"}


def test_a_list_as_changes_is_a_failed_step_and_its_parent_stands() -> None:
    """The proposal's own test."""
    returned = {
        "name": "p",
        "result": True,
        "comment": "",
        "changes": {},
        "sub_state_run": [{"changes": []}, GOOD],
    }
    result = to_result(returned, "m.f")
    assert "'Changes' should be a dictionary" in result.sub[0].comment
    assert result.sub[0].outcome is Outcome.FAILED
    assert result.sub[1].outcome is Outcome.OK
    assert result.outcome is Outcome.OK


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"changes": None}, "'Changes' should be a dictionary, not nothing"),
        ({"changes": "a"}, "'Changes' should be a dictionary, not a str"),
        ({"result": "yes"}, "'result' is 'yes'; it is True, False or None"),
        ({"result": 1}, "'result' is 1; it is True, False or None"),
        ({"result": []}, "'result' is []; it is True, False or None"),
        ({"comment": 7}, "'comment' is neither text nor a list of texts"),
        ({"comment": ["a", 7]}, "'comment' is neither text nor a list of texts"),
        ({"low": {}}, "it has no name: neither 'name' nor 'low' says what it is"),
        ({"low": None}, "it has no name: neither 'name' nor 'low' says what it is"),
    ],
)
def test_a_bad_entry_is_a_failed_step_that_says_what_is_wrong(change: dict[str, object], said: str) -> None:
    found = step({**GOOD, **change})
    assert found.outcome is Outcome.FAILED
    assert found.comment.startswith("malformed entry of sub_state_run: ")
    assert said in found.comment
    assert found.changes == {}


@pytest.mark.parametrize("key", ["changes", "result", "comment"])
def test_a_missing_key_is_reported_and_the_step_keeps_its_name(key: str) -> None:
    found = step({name: value for name, value in GOOD.items() if name != key})
    assert f"it has no '{key}'" in found.comment
    assert (found.name, found.id, found.state, found.fun) == ("n", "i", "s", "f")


def test_all_that_is_wrong_is_reported_at_once_with_what_the_entry_said() -> None:
    found = step({"changes": [], "result": "x", "comment": "the disk is full", "low": LOW})
    assert "'Changes'" in found.comment
    assert "'result'" in found.comment
    assert found.comment.endswith("it said: the disk is full")


@pytest.mark.parametrize("entry", [None, 7, "text", [], ["a"]])
def test_an_entry_that_is_no_dictionary_is_one_failed_step(entry: object) -> None:
    (found,) = steps([entry])
    assert found.outcome is Outcome.FAILED
    assert "not a dictionary" in found.comment


def test_the_name_is_taken_from_low_first() -> None:
    assert step({**GOOD, "name": "other"}).name == "n"
    flat: dict[str, object] = {"name": "x", "id": "y", "result": None, "changes": {}, "comment": None}
    found = step(flat)
    assert (found.name, found.id, found.outcome, found.comment) == ("x", "y", Outcome.WOULD_CHANGE, "")


def test_an_id_alone_is_a_name() -> None:
    assert step({**GOOD, "low": {"__id__": "i"}}).name == "i"


def test_a_whole_entry_is_read() -> None:
    found = step(
        {
            **GOOD,
            "comment": ["one", "two"],
            "changes": {1: "x"},
            "data": {"k": 1},
            "warnings": "careful",
            "duration": 2,
            "start_time": 7.5,
            "__state_ran__": False,
            "sub_state_run": [GOOD, {"changes": []}],
        }
    )
    assert (found.comment, found.changes, found.data) == ("one\ntwo", {"1": "x"}, {"k": 1})
    assert (found.warnings, found.took, found.started, found.timed) == (("careful",), 2.0, 7.5, True)
    assert not found.ran
    assert [inner.outcome for inner in found.sub] == [Outcome.OK, Outcome.FAILED]


@pytest.mark.parametrize("duration", ["2", "2.0", 2])
def test_a_duration_may_be_written_as_text(duration: object) -> None:
    found = step({**GOOD, "duration": duration})
    assert (found.timed, found.took) == (True, 2.0)


@pytest.mark.parametrize("duration", [-1, "-1", "two", "nan", True, float("nan"), float("inf"), None])
def test_a_duration_that_is_none_means_no_time(duration: object) -> None:
    assert not step({**GOOD, "duration": duration}).timed


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -5, 1e300, "soon", True, None, []])
def test_a_start_that_is_no_time_is_left_out(value: object) -> None:
    assert moment(value) is None


def test_a_start_may_be_iso_or_a_time_of_today() -> None:
    assert moment("2024-01-01T12:00:00+00:00") == 1704110400.0
    assert moment("12:00:00.5") is not None


def test_nesting_has_an_end() -> None:
    entry: dict[str, object] = dict(GOOD)
    for _ in range(DEEPEST + 5):
        entry = {**GOOD, "sub_state_run": [entry]}
    found = step(entry)
    while found.sub:
        found = found.sub[0]
    assert f"nested deeper than {DEEPEST}" in found.comment


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
KEYS = ("changes", "result", "comment", "low", "name", "duration", "start_time", "data", "sub_state_run")


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), anything), max_size=4) | anything)
def test_nothing_that_a_module_returns_can_raise(value: object) -> None:
    for found in steps(value):
        assert found.outcome in Outcome
        assert found.name
