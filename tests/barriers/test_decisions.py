"""What is to be done about a reboot that was asked for: a pure decision, by the identity of the boot."""

from __future__ import annotations

import pytest

from saltern.journal.barriers import Decision, decide_reboot
from saltern.language.result import Outcome, Result, failed
from saltern.runtime.barriers import requested_barrier

BEFORE = {"boot_id": "a", "pid1": "7", "nonce": "x"}


def barrier(**more: object) -> dict[str, object]:
    ask = {"notice": 0.0, "start_deadline": 100.0}
    return {"before": BEFORE, "tick": 1000.0, "armed": [{"tick": 1000.0}], "ask": ask, **more}


@pytest.mark.parametrize(
    "now",
    [{"boot_id": "b"}, {"boot_id": "a", "pid1": "9"}, {"boot_id": "a", "pid1": "7", "nonce": "y"}],
    ids=["a kernel", "a container", "a forgotten word"],
)
def test_one_part_that_differs_is_proof(now: dict[str, str]) -> None:
    assert decide_reboot(barrier(), now, 5.0, 0.0) is Decision.CROSSED


@pytest.mark.parametrize("now", [{}, {"boot_id": ""}, BEFORE, {"boot_id": "a", "pid1": "", "nonce": ""}])
def test_what_is_not_known_is_no_proof(now: dict[str, str]) -> None:
    assert decide_reboot(barrier(), now, 1001.0, 1001.0) is Decision.WAIT


def test_a_count_that_went_back_is_no_proof_and_still_comes_to_an_end() -> None:
    assert decide_reboot(barrier(), BEFORE, 50.0, 50.0) is Decision.ARM
    assert decide_reboot(barrier(), BEFORE, 149.0, 50.0) is Decision.ARM
    assert decide_reboot(barrier(), BEFORE, 150.0, 50.0) is Decision.FAILED


def test_it_is_armed_once_a_minute_until_the_deadline() -> None:
    assert decide_reboot(barrier(armed=[]), BEFORE, 1000.0, 1000.0) is Decision.ARM
    assert decide_reboot(barrier(), BEFORE, 1059.0, 1000.0) is Decision.WAIT
    assert decide_reboot(barrier(), BEFORE, 1060.0, 1000.0) is Decision.ARM
    assert decide_reboot(barrier(), BEFORE, 1100.0, 1000.0) is Decision.FAILED


def test_a_machine_that_may_be_forced_is_forced_once_after_the_deadline() -> None:
    ask = {"notice": 0.0, "start_deadline": 100.0, "force": True}
    forced = [{"tick": 1000.0}, {"tick": 1100.0, "forced": True}]
    assert decide_reboot(barrier(ask=ask), BEFORE, 1099.0, 1000.0) is Decision.ARM
    assert decide_reboot(barrier(ask=ask), BEFORE, 1100.0, 1000.0) is Decision.FORCE
    assert decide_reboot(barrier(ask=ask, armed=forced), BEFORE, 1159.0, 1000.0) is Decision.WAIT
    assert decide_reboot(barrier(ask=ask, armed=forced), BEFORE, 1160.0, 1000.0) is Decision.FAILED


def test_the_notice_comes_before_the_deadline() -> None:
    body = barrier(ask={"notice": 300.0, "start_deadline": 100.0})
    assert decide_reboot(body, BEFORE, 1300.0, 1000.0) is Decision.WAIT
    assert decide_reboot(body, BEFORE, 1400.0, 1000.0) is Decision.FAILED


def test_a_machine_that_is_back_after_the_deadline_is_back() -> None:
    assert decide_reboot(barrier(), {"boot_id": "b"}, 99999.0, 0.0) is Decision.CROSSED


@pytest.mark.parametrize(
    ("word", "when"), [(True, "after"), ("after", "after"), ("again", "again"), ({"when": "again"}, "again")]
)
def test_a_return_asks_by_a_word(word: object, when: str) -> None:
    barrier = requested_barrier(Result(outcome=Outcome.OK, extra={"reboot": word}))
    assert barrier is not None
    assert barrier.when == when


@pytest.mark.parametrize("word", [False, None, "", "yes", 1.5, [], {}, {"when": []}, "no"])
def test_other_words_ask_for_nothing(word: object) -> None:
    assert requested_barrier(Result(outcome=Outcome.OK, extra={"reboot": word})) is None


def test_a_failure_asks_for_nothing() -> None:
    assert requested_barrier(failed("no")) is None
