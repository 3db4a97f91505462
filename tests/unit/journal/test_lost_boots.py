"""What a loss of power makes doubtful: what was changed in that boot, and never a reboot."""

from __future__ import annotations

from saltern.journal.fold import fold
from saltern.journal.form import Record
from saltern.journal.run_state import RunState

FIRST, REBOOT = 0, 1  # places of two states
ONE, TWO, THREE = ({"boot_id": str(number)} for number in (1, 2, 3))


def run(*records: tuple[str, dict[str, object]]) -> RunState:
    whole: list[tuple[str, dict[str, object]]] = [("run", {"jid": "1", "boot": ONE}), *records]
    return fold(Record(seq, kind, body) for seq, (kind, body) in enumerate(whole))


def done(place: int) -> tuple[str, dict[str, object]]:
    answer = {"number": place, "result": {"changes": {"some": "thing"}, "outcome": True}}
    return "done", {"scope": "", "place": place, "answer": answer}


def started(place: int) -> tuple[str, dict[str, object]]:
    return "start", {"scope": "", "place": place, "number": place, "started": 0.0}


ASKED: tuple[str, dict[str, object]] = (
    "barrier",
    {"scope": "", "place": REBOOT, "number": REBOOT, "kind": "reboot", "when": "again", "before": ONE},
)
CROSSED: tuple[str, dict[str, object]] = ("crossed", {"kind": "reboot", "why": "", "now": TWO})


def test_what_was_changed_in_a_boot_that_was_lost_is_suspect() -> None:
    assert run(done(FIRST), ("resumed", {"boot": TWO})).suspect == {FIRST}
    assert run(done(FIRST), ("resumed", {"boot": ONE})).suspect == set()


def test_a_reboot_that_is_done_is_never_suspect() -> None:
    """Asked whether it would do something, it would say yes, for ever."""
    found = run(ASKED, CROSSED, started(REBOOT), done(REBOOT), ("resumed", {"boot": THREE}))
    assert found.suspect == set()
    assert found.unsure


def test_a_boot_that_was_asked_for_has_lost_nothing_even_if_nobody_came_to_say_so() -> None:
    """The process that has proven the boot was killed before it went on."""
    found = run(done(FIRST), ASKED, CROSSED, ("resumed", {"boot": TWO}))
    assert found.suspect == set()
    assert not found.unsure


def test_what_is_begun_anew_is_not_done_and_no_longer_suspect() -> None:
    found = run(done(FIRST), ("resumed", {"boot": TWO}), started(FIRST))
    assert found.suspect == set()
    assert found.in_doubt == [("", FIRST)]
    again = run(done(FIRST), ("resumed", {"boot": TWO}), started(FIRST), done(FIRST))
    assert (again.suspect, again.fresh, again.in_doubt) == (set(), {FIRST}, [])
