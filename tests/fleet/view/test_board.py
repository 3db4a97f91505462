"""A job on many systems, folded from what is heard of it."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.view.samples import JID, notices

from saltern.fleet.protocol.notices import AnyNotice, Progressed, StatusChanged
from saltern.fleet.view.block import block, tally
from saltern.fleet.view.board import SAME_SHOWN, Board, away_line, hear, new_board
from saltern.report.text import columns, safe_line

NOW = 1_704_110_400.0
SYSTEMS = ["web1", "web2", "db1", "db2", "a b", "ü\x1b[31m", "長い名前"]


def board(*systems: str, **values: object) -> Board:
    return new_board(JID, systems or SYSTEMS, started=NOW, **values)


def status(system: str, word: str, **values: object) -> StatusChanged:
    return StatusChanged(jid=JID, system=system, status=word, **values)  # type: ignore[arg-type]


def progress(system: str, **values: object) -> Progressed:
    return Progressed(jid=JID, system=system, **values)  # type: ignore[arg-type]


def texts(seen: Board, *heard: AnyNotice) -> list[str]:
    return [said.text for notice in heard for said in hear(seen, notice, NOW + 1)]


def test_a_failure_is_reported_at_once_with_its_message_and_line() -> None:
    seen = board("web1")
    comment = "unit not found (web/init.sls:14)"
    (line,) = texts(seen, progress("web1", state="service.running nginx", outcome="failed", comment=comment))
    assert line == "web1: service.running nginx – unit not found (web/init.sls:14)"


def test_a_failure_that_had_a_line_has_no_second_one_when_the_system_ends() -> None:
    seen = board("web1")
    texts(seen, progress("web1", state="x", outcome="failed", comment="y"))
    assert texts(seen, status("web1", "failed", failed=1)) == []


def test_the_same_failure_of_many_systems_has_a_few_lines_and_is_counted() -> None:
    seen = board(*(f"web{number}" for number in range(50)))
    heard = [progress(f"web{number}", state="x", outcome="failed", comment="y") for number in range(50)]
    assert len(texts(seen, *heard)) == SAME_SHOWN
    assert len(seen.failures["x", "y"]) == 50


def test_one_that_is_refused_says_why() -> None:
    assert texts(board("web1"), status("web1", "refused", why="denied by deny.yaml")) == [
        "web1: refused – denied by deny.yaml"
    ]


def test_one_that_goes_down_says_until_when() -> None:
    back = time.strftime("%H:%M", time.localtime(NOW + 60))
    assert texts(board("web1"), status("web1", "down", back_by=NOW + 60)) == [
        f"web1: goes down, back by {back}"
    ]


def test_those_that_are_away_are_named_at_once() -> None:
    since, until = (time.strftime("%H:%M", time.localtime(at)) for at in (NOW - 60, NOW + 3600))
    seen = board("web1", "web2", "web3", away={"web2": NOW - 60, "web3": None}, expires=NOW + 3600)
    assert away_line(seen, NOW) == (
        f"2 away: web2 since {since}; web3 never seen; queued until {until}, --wait 0 to leave them out"
    )
    assert tally(seen) == "0/3 done, 1 waiting, 2 away"
    assert [one.id for one in seen.order if seen.is_waited_for(one)] == ["web1"]


def test_none_is_away_and_nothing_is_said() -> None:
    assert away_line(board("web1"), NOW) == ""


def test_one_that_came_back_is_waited_for() -> None:
    seen = board("web1", away={"web1": NOW})
    texts(seen, status("web1", "running"))
    assert [one.id for one in seen.order if seen.is_waited_for(one)] == ["web1"]


def test_a_late_return_corrects_what_was_inferred_and_nothing_else() -> None:
    seen = board("web1")
    texts(seen, status("web1", "expired"), status("web1", "returned", changed=2), status("web1", "expired"))
    assert seen.rows["web1"].status == "returned"


def test_the_running_ones_have_a_line_each_with_number_and_name_of_their_state() -> None:
    seen = board("web1", "web10")
    texts(
        seen, progress("web1", done=3, total=12, state="file.managed /etc/motd"), status("web10", "running")
    )
    lines = block(seen, NOW + 4, width=80, height=24)
    assert lines[0] == "▸ web1   3/12  3.0 s  file.managed /etc/motd"
    assert lines[1] == "▸ web10  3.0 s"
    assert lines[2].startswith("░" * 20 + " 0/2 done, 2 running")


def test_more_than_fit_are_counted() -> None:
    seen = board(*(f"web{number}" for number in range(100)))
    texts(seen, *(status(one, "running") for one in seen.rows))
    lines = block(seen, NOW, width=80, height=10, plain=True)
    assert len(lines) == 8
    assert lines[-2] == "... and 94 more run"


@given(notices(), st.integers(10, 120), st.integers(3, 40), st.booleans())
def test_whatever_is_heard_the_block_fits_the_terminal(
    heard: list[AnyNotice], width: int, height: int, plain: bool
) -> None:
    seen = board()
    for notice in heard:
        for said in hear(seen, notice, NOW):
            assert said.text == safe_line(said.text)
        lines = block(seen, NOW + 2, width=width, height=height, plain=plain)
        assert len(lines) <= max(height - 2, 1)
        assert all(columns(line) < width and line == safe_line(line) for line in lines)


@given(notices(), st.booleans(), st.sets(st.sampled_from(SYSTEMS)))
def test_it_is_done_when_there_is_no_row_left_to_wait_for(
    heard: list[AnyNotice], patient: bool, away: set[str]
) -> None:
    seen = board(away=dict.fromkeys(away))
    for notice in heard:
        hear(seen, notice, NOW)
        waits = [one for one in seen.rows.values() if one.is_open if patient or seen.is_waited_for(one)]
        assert seen.is_done(patient) == (not waits)


@given(notices())
def test_what_is_heard_twice_is_said_once(heard: list[AnyNotice]) -> None:
    seen = board()
    for notice in heard:
        hear(seen, notice, NOW)
        before = [(one.id, one.status, one.done, one.failed) for one in seen.rows.values()]
        assert hear(seen, notice, NOW) == []
        assert [(one.id, one.status, one.done, one.failed) for one in seen.rows.values()] == before


@given(notices())
def test_every_system_is_counted_once(heard: list[AnyNotice]) -> None:
    seen = board()
    texts(seen, *heard)
    done, *others = tally(seen).split(", ")
    ended = [
        part for part in others if part.split()[1] in ("failed", "refused", "expired", "cancelled", "unknown")
    ]
    counted = int(done.partition("/")[0]) + sum(int(part.split()[0]) for part in others if part not in ended)
    assert counted == len(SYSTEMS)


@given(notices())
def test_what_a_system_reported_is_final(heard: list[AnyNotice]) -> None:
    seen = board()
    final: dict[str, str] = {}
    for notice in heard:
        hear(seen, notice, NOW)
        for id_, status_ in final.items():
            assert seen.rows[id_].status == status_
        reported = ("returned", "failed", "refused")
        final |= {one.id: one.status for one in seen.rows.values() if one.status in reported}
