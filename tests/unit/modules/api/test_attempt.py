"""What a state raises becomes one result, by the same rules for all states."""

from __future__ import annotations

import errno

import pytest
from tests.modules.bench import Bench

from saltern.language.result import Outcome, Result, ok
from saltern.modules.api.attempt import attempt
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring, result_of
from saltern.modules.api.refused import Refused
from saltern.modules.states import test as module

WORDS = Words("already", "would", "done")


@pytest.fixture
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"), module)


def _raised(ctx: Context, problem: BaseException) -> Result:
    def work() -> Result:
        raise problem

    return attempt(ctx, work, "x.y")


def test_a_refusal_has_the_facts_and_what_it_brings(bench: Bench) -> None:
    ctx = bench.context()
    ctx.facts, ctx.warnings = {"path": "/x"}, ("unused",)
    refused = Refused("no", data={"size": 1}, changes={"a": 1}, warnings=("half",))
    result = _raised(ctx, refused)
    assert (result.outcome, result.comment) == (Outcome.FAILED, "no")
    assert (result.data, result.changes) == ({"path": "/x", "size": 1}, {"a": 1})
    assert result.warnings == ("half", "unused")


@pytest.mark.parametrize(
    ("test", "later", "foreseen", "outcome"),
    [
        (True, True, {"new": "x"}, Outcome.WOULD_CHANGE),
        (True, True, {}, Outcome.FAILED),
        (True, False, {"new": "x"}, Outcome.FAILED),
        (False, True, {"new": "x"}, Outcome.FAILED),
    ],
)
def test_what_is_missing_yet_is_a_remark_in_test_mode(
    bench: Bench, test: bool, later: bool, foreseen: dict[str, object], outcome: Outcome
) -> None:
    ctx = bench.context(test=test)
    ctx.foreseen = foreseen
    result = _raised(ctx, Refused("no user joe", later=later))
    assert result.outcome is outcome
    assert result.changes == (foreseen if outcome is Outcome.WOULD_CHANGE else {})


def test_errors_of_the_system_name_the_file_and_what_to_do(bench: Bench) -> None:
    ctx = bench.context()
    problem = PermissionError(errno.EACCES, "Permission denied", "/x/y")
    assert _raised(ctx, problem).comment == "/x/y: Permission denied"
    ctx.facts = {"path": "/x"}
    assert _raised(ctx, problem).comment == "/x: /x/y: permission denied; run as root, or as a user who may"


@pytest.mark.parametrize("kind", [Refused, OSError, ValueError, RuntimeError])
def test_no_failure_shows_a_password(bench: Bench, kind: type[Exception]) -> None:
    result = _raised(bench.context(), kind("cannot read https://joe:p@ss@host/x"))
    assert "ss" not in result.comment.replace("passed", "")
    assert "https://joe:***@host/x" in result.comment


def test_what_is_no_result_is_a_failure(bench: Bench) -> None:
    result = attempt(bench.context(), lambda: {"result": True}, "x.y")
    assert (result.outcome, result.comment) == (Outcome.FAILED, "x.y returned dict, not a Result")


def test_parts_have_facts_of_their_own(bench: Bench) -> None:
    ctx = bench.context(test=True)
    ctx.facts = {"path": "/all"}
    part = ctx.about(path="/one")
    assert (_raised(part, Refused("no")).data, part.test) == ({"path": "/one"}, True)
    assert attempt(ctx, lambda: ok("fine")).comment == "fine"


def test_bring_reports_what_was_done_before_it_failed(bench: Bench) -> None:
    there: set[str] = set()

    def differs() -> Changes:
        return {name: {"old": None, "new": name} for name in ("a", "b") if name not in there}

    def act(changes: Changes) -> None:
        there.add("a")
        raise Refused("b is not to be had")

    ctx = bench.context()
    result = attempt(
        ctx, lambda: bring(ctx, differs, act, facts=lambda: {"there": sorted(there)}, words=WORDS)
    )
    assert (result.outcome, result.comment) == (Outcome.FAILED, "b is not to be had")
    assert (result.changes, result.data) == ({"a": {"old": None, "new": "a"}}, {"there": ["a"]})


@pytest.mark.parametrize(
    ("test", "changes", "comment"),
    [(False, {}, "already"), (True, {}, "already"), (True, {"a": 1}, "would"), (False, {"a": 1}, "done")],
)
def test_a_state_that_acts_by_itself_reports_the_same_way(
    bench: Bench, test: bool, changes: Changes, comment: str
) -> None:
    result = result_of(bench.context(test=test), changes, WORDS, {"x": 1})
    assert (result.comment, result.changes, result.data) == (comment, changes, {"x": 1})
    assert (result.outcome is Outcome.WOULD_CHANGE) == (test and bool(changes))
