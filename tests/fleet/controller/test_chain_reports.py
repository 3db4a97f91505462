"""What a node writes is what the controller reads; systems do their actions in the order of the file."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields

from saltern.chains.accept import Order, start
from saltern.chains.document import read_chain
from saltern.chains.legs import Legs
from saltern.chains.statuses import Leg, Step
from saltern.cli.leg_report import report_of_leg
from saltern.config.settings import Settings
from saltern.fleet.chains.events import Refused, Reported
from saltern.fleet.chains.model import LegState, StepPlan, StepState
from saltern.fleet.chains.plans import plan_systems
from saltern.fleet.controller.chains.reports import ReportedLeg, ReportedStep, read_report
from saltern.fleet.controller.chains.views import _waits

TEXT = (
    "chain: c\nactions:\n  - {id: a, command: 'true'}\n  - {id: b, command: 'false'}\n  - {id: d, wait: 0}\n"
)
LATER = {"started", "ended"}  # a node that knows them sends them


def _leg(*names: str) -> LegState:
    plan = tuple(StepPlan(id=name) for name in names)
    return LegState(id="r.s", system="s", wave=0, plan=plan, steps=tuple(StepState() for _ in plan))


def test_55_every_field_that_the_controller_reads_is_one_that_a_node_writes(tmp_path: Path) -> None:
    settings = Settings(id="s", state_dir=str(tmp_path / "state"), cachedir=str(tmp_path / "cache"))
    known = start(settings, Order(text=TEXT, file="c.yaml", system="s", token="r.s", number=1))
    data = {**report_of_leg(known, settings), "order": 1}
    assert {one.name for one in fields(ReportedLeg)} <= data.keys()
    wanted = {one.name for one in fields(ReportedStep)} - LATER
    assert all(wanted <= row.keys() for row in data["steps"] if row["status"] != "not run")
    event = read_report(_leg("a", "b", "d"), data, 1.0)
    assert isinstance(event, Reported)
    assert [one.status for one in event.steps] == [Step.SUCCEEDED, Step.FAILED, Step.NOT_RUN]
    assert (event.status, event.order, event.steps[0].changed) == (Leg.FAILED, 1, True)
    assert event.seq == Legs(settings).load(known.id).state.records * 1_000_000


def test_a_step_ends_when_it_began_and_as_long_as_it_took() -> None:
    """A node says when a step began and how long it took; one that is open, or has not run, has no end."""
    rows = [
        {"action": name, "status": status, "started": 10.0, "took": 2.5}
        for name, status in (("a", "succeeded"), ("b", "failed"), ("c", "running"), ("d", "not run"))
    ]
    event = read_report(_leg("a", "b", "c", "d"), {"status": "failed", "seq": 1, "steps": rows}, 1.0)
    assert isinstance(event, Reported)
    assert [one.ended for one in event.steps] == [12.5, 12.5, None, None]


def test_a_list_says_what_a_run_waits_for_when_none_of_its_legs_is_at_work() -> None:
    said = "waits for approval of gate 'wave 2'"
    assert _waits({"succeeded": 2, "failed": 1, "pending": 3}, ["wave 2"]) == said
    assert _waits({"succeeded": 2, "running": 1, "pending": 3}, ["wave 2"]) == ""
    assert _waits({"succeeded": 2, "pending": 3}, []) == ""


def test_55_rows_are_found_by_their_ids_whatever_their_order() -> None:
    rows = [
        {"action": name, "status": status}
        for name, status in (("b", "failed"), ("x", "running"), ("a", "succeeded"))
    ]
    event = read_report(_leg("a", "b"), {"status": "failed", "seq": 1, "steps": rows}, 1.0)
    assert isinstance(event, Reported)
    assert [one.status for one in event.steps] == [Step.SUCCEEDED, Step.FAILED]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda one: st.lists(one) | st.dictionaries(st.text(), one),
    )
)
def test_38_whatever_a_system_sends_is_read_or_leaves_its_leg_in_doubt(body: object) -> None:
    event = read_report(_leg("a"), body, 1.0)
    assert isinstance(event, Refused) and event.status is Leg.INDETERMINATE


@given(
    st.lists(
        st.tuples(st.text("abcdefgh", min_size=1, max_size=3), st.sets(st.sampled_from("stuv"))),
        min_size=1,
        max_size=12,
        unique_by=lambda one: one[0],
    ),
    st.randoms(),
)
def test_56_every_system_has_its_actions_in_the_order_of_the_file(
    rows: list[tuple[str, set[str]]], dice: object
) -> None:
    dice.shuffle(rows)  # type: ignore[attr-defined]
    actions = "".join(
        f"  - {{id: {name}, wait: 0, targets: [{', '.join(sorted(on or {'s'}))}]}}\n" for name, on in rows
    )
    plans = plan_systems(read_chain(f"chain: c\nactions:\n{actions}", "c"), ["s", "t", "u", "v"])
    for system, plan in plans.items():
        wanted = [name for name, on in rows if system in (on or {"s"})]
        assert [step.id for step in plan.steps] == wanted
        places = [step.place for step in plan.steps]
        assert places == sorted(places)
