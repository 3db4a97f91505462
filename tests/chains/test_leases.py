"""A controller that lets a machine work for a while: no action begins after that, over reboots, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from saltern.chains.accept import Order, start
from saltern.chains.compile import plan_for
from saltern.chains.decide import Begin, Wait, decide
from saltern.chains.document import read_chain
from saltern.chains.leg import LegState, fold
from saltern.chains.legs import Legs
from saltern.chains.show import as_data
from saltern.chains.statuses import Leg
from saltern.config.settings import Settings
from saltern.journal.form import Record

TEXT = """\
chain: c
actions:
  - {id: a, command: 'true'}
  - {id: b, command: 'true'}
finally:
  - {id: f, command: 'true'}
"""
DONE = {"status": "succeeded", "comment": "", "changed": True, "took": 0.0}


def leg(*records: tuple[str, dict[str, Any]]) -> LegState:
    plan = plan_for(read_chain(TEXT, "c"), "here")
    return fold(plan, [Record(at, kind, body) for at, (kind, body) in enumerate(records)])


def accepted(lease: float) -> tuple[str, dict[str, Any]]:
    return "accepted", {"lease": lease, "started": 1000.0, "tick": 10.0, "wall": 1000.0, "boot": "x"}


def done(name: str, *, tick: float, wall: float, boot: str = "x") -> tuple[str, dict[str, Any]]:
    return "results", {"steps": {name: DONE}, "tick": tick, "wall": wall, "boot": boot}


def test_with_a_lease_actions_are_begun_one_by_one() -> None:
    begun = ("begun", {"tick": 10.0, "wall": 1000.0, "boot": "x"})
    command = decide(leg(accepted(60), begun))
    assert isinstance(command, Begin) and [one.id for one in command.actions] == ["a"]
    whole = decide(leg(accepted(0), begun))
    assert isinstance(whole, Begin) and [one.id for one in whole.actions] == ["a", "b"]


def test_after_it_nothing_begins_by_the_time_that_the_machine_ran_or_by_its_clock() -> None:
    begun = ("begun", {"tick": 10.0, "wall": 1000.0, "boot": "x"})
    assert isinstance(decide(leg(accepted(60), begun, done("a", tick=69.0, wall=1059.0))), Begin)
    assert decide(leg(accepted(60), begun, done("a", tick=71.0, wall=1001.0))) == Wait()
    assert decide(leg(accepted(60), begun, done("a", tick=3.0, wall=1061.0, boot="y"))) == Wait()


def test_a_clock_that_was_put_back_gives_no_more_time() -> None:
    begun = ("begun", {"tick": 10.0, "wall": 1000.0, "boot": "x"})
    assert decide(leg(accepted(60), begun, done("a", tick=71.0, wall=0.0))) == Wait()


def test_the_next_order_brings_a_new_one() -> None:
    begun = ("begun", {"tick": 10.0, "wall": 1000.0, "boot": "x"})
    late = leg(accepted(60), begun, done("a", tick=71.0, wall=1061.0), ("waiting", {}))
    assert (late.status, decide(late)) == (Leg.WAITING, None)
    order = ("order", {"order": 2, "lease": 30.0, "at": 1100.0, "tick": 110.0, "wall": 1100.0, "boot": "x"})
    again = leg(
        accepted(60),
        begun,
        done("a", tick=71.0, wall=1061.0),
        *(("waiting", {}), order, ("begun", {"tick": 111.0, "wall": 1101.0, "boot": "x"})),
    )
    command = decide(again)
    assert isinstance(command, Begin) and [one.id for one in command.actions] == ["b"]


def test_a_machine_whose_lease_is_over_waits_and_says_for_what(tmp_path: Path) -> None:
    text = TEXT.replace("'true'}\n  - {id: b", "'sleep 0.05'}\n  - {id: b")
    settings = Settings(id="s", state_dir=str(tmp_path / "state"), cachedir=str(tmp_path / "cache"))
    known = start(settings, Order(text=text, file="c.yaml", system="s", token="t", number=1, lease=0.01))
    data = as_data(Legs(settings).load(known.id), settings)
    assert (data["status"], data["waits_for"]) == ("waiting", "its window, which is over")
