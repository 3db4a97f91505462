"""Parallel chunks: real processes, real pipes."""

from __future__ import annotations

import os
import signal

from saltern.language.result import Outcome, Result, failed, ok
from saltern.runtime.pool import Pool


def test_an_answer_comes_back_whole() -> None:
    pool = Pool()
    pool.start(3, lambda: ok("done", changes={"a": {"old": None, "new": 1}}, fact=5))
    assert 3 in pool and bool(pool)
    result = pool.wait(3)
    assert result == ok("done", changes={"a": {"old": None, "new": 1}}, fact=5)
    assert 3 not in pool and not pool


def test_an_answer_may_be_larger_than_any_pipe() -> None:
    pool = Pool()
    for place in range(3):
        pool.start(place, lambda: ok("x" * 3_000_000))
    assert [len(pool.wait(place).comment) for place in (2, 0, 1)] == [3_000_000] * 3


def test_many_children_are_all_read() -> None:
    pool = Pool()
    for place in range(40):
        pool.start(place, lambda place=place: ok(str(place)))  # type: ignore[misc]
    answers: dict[int, Result] = {}
    while pool:
        answers.update(pool.collect_finished(block=True))
    assert {place: result.comment for place, result in answers.items()} == {n: str(n) for n in range(40)}


def test_it_is_full_at_its_limit_and_never_without_one() -> None:
    pool = Pool(2)
    assert not pool.full
    reader, writer = os.pipe()
    for place in range(2):
        pool.start(place, lambda: ok(os.read(reader, 1).decode()))
    assert bool(pool.full)
    assert pool.collect_finished() == []
    os.write(writer, b"xy")
    assert {pool.wait(place).comment for place in range(2)} == {"x", "y"}
    assert not pool.full
    os.close(reader)
    os.close(writer)
    assert not Pool(0).full


def test_a_child_that_is_killed_has_failed() -> None:
    def die() -> Result:
        os.kill(os.getpid(), signal.SIGKILL)
        return ok()

    pool = Pool()
    pool.start(0, die)
    result = pool.wait(0)
    assert result.outcome is Outcome.FAILED
    assert "signal 9" in result.comment


def test_a_child_that_is_killed_while_it_answers_has_failed() -> None:
    reader, writer = os.pipe()

    def work() -> Result:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 0.2)  # strikes while the pipe is full
        os.write(writer, str(os.getpid()).encode())
        return ok("x" * 1_000_000)

    pool = Pool()
    pool.start(0, work)
    os.waitid(os.P_PID, int(os.read(reader, 20)), os.WEXITED | os.WNOWAIT)
    result = pool.wait(0)
    os.close(reader)
    os.close(writer)
    assert result.outcome is Outcome.FAILED


def test_a_child_that_ends_without_a_word_has_failed() -> None:
    def leave() -> Result:
        os._exit(3)

    pool = Pool()
    pool.start(0, leave)
    assert "code 3" in pool.wait(0).comment


def test_what_a_child_raises_is_a_failure_with_its_text() -> None:
    def burn() -> Result:
        raise RuntimeError("on fire")

    pool = Pool()
    pool.start(0, burn)
    assert "on fire" in pool.wait(0).comment


def test_an_answer_that_cannot_be_sent_is_a_failure() -> None:
    pool = Pool()
    pool.start(0, lambda: Result(outcome=Outcome.OK, data={"function": lambda: None}))
    result = pool.wait(0)
    assert result.outcome is Outcome.FAILED and "lost" in result.comment


def test_a_child_changes_nothing_here() -> None:
    seen: list[int] = []

    def work() -> Result:
        seen.append(1)
        return failed(str(len(seen)))

    pool = Pool()
    pool.start(0, work)
    assert pool.wait(0).comment == "1"
    assert seen == []
