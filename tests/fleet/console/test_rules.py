"""What pages decide, without a page: causes, folds, numbers, words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.chains.statuses import Leg, Run, Step, Wave
from saltern.fleet.api.problems import ApiError
from saltern.fleet.chains.causes import Failure, generalise, group_causes, shared_facts
from saltern.fleet.chains.past import fold, step_at
from saltern.fleet.chains.shape import LETTERS, WORDS, letter, make_shape, split_shape
from saltern.fleet.console import format
from saltern.fleet.console.act import check_number
from saltern.fleet.console.row import Form
from saltern.fleet.console.views.leg import tries
from saltern.fleet.console.views.runs import cuts
from saltern.fleet.console.views.states import state_rows


@pytest.mark.parametrize("kind", [Step, Leg, Run, Wave])
def test_every_status_has_a_mark(kind: type[Step]) -> None:
    for one in kind:
        assert one.value in format.MARKS, one
        assert format.plain(one.value) in format.STRIP


def test_the_store_knows_the_letters_of_what_is_bad() -> None:
    from saltern.fleet.chains.shape import BAD, LETTERS
    from saltern.fleet.store.chain_shapes import BAD_LETTERS, BAD_STEPS

    assert {*BAD_STEPS} == BAD
    assert {LETTERS[one] for one in BAD_STEPS} == BAD_LETTERS


def test_every_step_has_a_letter() -> None:
    assert {*LETTERS} == {one.value for one in Step}
    assert len({*LETTERS.values(), "c"}) == len(LETTERS) + 1


@given(st.lists(st.sampled_from(sorted(WORDS))), st.lists(st.text(max_size=5), max_size=4))
def test_a_shape_is_read_back(letters: list[str], actions: list[str]) -> None:
    statuses, _ = split_shape(make_shape("".join(letters), actions))
    assert statuses == [WORDS[one] for one in letters]


def test_a_success_that_changed_something_has_its_own_letter() -> None:
    assert letter("succeeded", changed=True) == "c"
    assert letter("failed", changed=True) == "f"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("E: fetch http://a/b_1.deb 404", "E: fetch http://c/d_2.deb 404"),
        ("no answer from 10.0.0.7 after 120 s", "no answer from 10.1.2.3:80 after 60 s"),
        ("/var/lib/x/1 is full", "/srv/y is full"),
        ("commit 9f3c2a1b differs", "commit 0011aabb differs"),
        ("host web-1.fra.example.org is down", "host api-22.ber.example.org is down"),
    ],
)
def test_messages_that_differ_in_names_are_one_cause(one: str, other: str) -> None:
    assert generalise(one) == generalise(other)


def test_messages_of_other_words_are_other_causes() -> None:
    assert generalise("the disk is full") != generalise("the disk is gone")


@given(
    st.lists(st.tuples(st.text(max_size=5), st.sampled_from(["failed", "timed out"]), st.text(max_size=30)))
)
def test_every_failure_is_in_one_cause(rows: list[tuple[str, str, str]]) -> None:
    failures = [
        Failure(system=f"s{n}", wave=1, step=step, status=status, comment=comment, at=float(n))
        for n, (step, status, comment) in enumerate(rows)
    ]
    found = group_causes(failures)
    assert sorted(one for cause in found for one in cause.systems) == sorted(one.system for one in failures)
    assert [len(one.systems) for one in found] == sorted((len(one.systems) for one in found), reverse=True)


def test_what_failed_systems_share_is_named() -> None:
    failed, others = (frozenset(f"{word}{n}" for n in range(many)) for word, many in (("f", 10), ("o", 20)))
    racks = {"r14": failed - {"f0"}, "r15": frozenset({"f0"}), "r11": others}
    facts = {"rack": racks, "os": {"Debian": failed | others}}
    assert shared_facts(facts, failed, others) == [("rack", "r14")]
    assert shared_facts(facts, failed, failed) == []
    assert shared_facts(facts, frozenset({"f1"}), others) == [], "one system shares nothing"


times = st.one_of(st.none(), st.floats(1, 100))


@given(st.sampled_from([one.value for one in Step]), times, times, st.floats(0, 200))
def test_a_step_runs_from_its_begin_to_its_end(
    status: str, started: float | None, ended: float | None, at: float
) -> None:
    then = step_at(status, started, ended, at)
    if started is not None and started > at:
        assert then == "not run"
    elif started is not None and (ended is None or ended > at):
        assert then == "running"
    elif started is not None:
        assert then == status


def test_a_run_is_folded_up_to_a_moment() -> None:
    events = [
        {"at": 1.0, "data": {"run": "r", "status": "running"}},
        {"at": 2.0, "data": {"id": "a", "status": "running", "away": False}},
        {"at": 3.0, "data": {"id": "a", "status": "failed", "away": False}},
    ]
    assert fold(events, 2.5).leg("a") == ("running", False)
    assert fold(events, 9).leg("a") == ("failed", False)
    assert fold(events, 0.5).leg("a") == ("pending", False)
    assert fold(events, 1).run == "running"


def form(**fields: str) -> Form:
    return Form(fields=fields, lists={}, path={})


@given(st.integers(0, 5000), st.integers(0, 5000))
def test_another_number_than_the_one_shown_is_refused(shown: int, now: int) -> None:
    given_ = form(count=str(shown), typed=f"{shown:,}", reason="why")
    if shown == now:
        check_number(given_, now, danger=True)
    else:
        with pytest.raises(ApiError, match=f"{now:,}"):
            check_number(given_, now, danger=False)


def test_confirmation_grows_with_the_number() -> None:
    check_number(form(count="10"), 10, danger=False)
    for bad in (form(count="11"), form(count="11", typed="11"), form(count="11", typed="12", reason="x")):
        with pytest.raises(ApiError):
            check_number(bad, 11, danger=False)
    with pytest.raises(ApiError):
        check_number(form(count="1"), 1, danger=True)


def test_times_are_said_short() -> None:
    now = 1_794_838_758.0
    assert format.span(0.4) == "0.4 s"
    assert format.span(0.02) == "< 0.1 s"
    assert format.span(260) == "4 min 20 s"
    assert format.span(3 * 3600 + 300) == "3 h 5 min"
    assert format.span(12 * 86_400) == "12 d"
    assert format.moment(now, now) == "14:19"
    assert format.moment(None, now) == "–"
    assert format.moment(now - 86_400, now) == "15 Nov 14:19"
    assert format.moment(now + 60 * 86_400, now) == "15 Jan 14:19"
    assert format.moment(now - 400 * 86_400, now) == "12 Oct 2025"


def test_hours_and_amounts_are_said_short() -> None:
    from saltern.fleet.controller.chains.run_views import amount

    assert format.hour(1_794_838_758.0) == "14:19"
    assert format.hour(1_794_787_200.0) == "16 Nov"
    assert amount({"number": 2.0, "percent": False}) == "2"
    assert amount({"number": 7.5, "percent": True}) == "7.5 %"
    assert (amount(None), amount("5%")) == ("", "5%")
    assert format.after("waits for a window", "waits ") == "for a window"


def test_a_line_stands_before_a_reboot_and_not_before_the_end() -> None:
    actions = [{"segment": one, "final": one == 3} for one in (1, 1, 2, 3)]
    assert cuts(actions) == [False, False, True, False]


def test_a_step_that_has_not_run_has_no_bar() -> None:
    step = {"status": "not run", "started": 5.0, "ended": None, "tries": []}
    assert tries(step, 9.0) == []
    assert [one[:3] for one in tries({**step, "status": "failed", "ended": 7.0}, 9.0)] == [
        ("failed", 5.0, 7.0)
    ]


def test_states_of_a_return_are_listed_the_worst_first() -> None:
    body = {
        "web1": {
            "file_|-a_|-/a_|-managed": {
                "result": True,
                "changes": {"diff": "x"},
                "comment": "c",
                "duration": 5,
            },
            "pkg_|-b_|-b_|-installed": {"result": False, "changes": {}, "comment": "no", "__run_num__": 2},
        }
    }
    rows = state_rows(body)
    assert [(one["id"], one["word"], one["function"]) for one in rows] == [
        ("b", "failed", "pkg.installed"), ("a", "changed", "file.managed"),
    ]  # fmt: skip
    assert state_rows(True) == state_rows({"a": 1}) == []
