"""A run with barriers on a machine that is broken, and what must be true of it afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from msgspec import json
from tests.fault.crossing_machine import Boat, Crash, Voyage
from tests.fault.crossing_tree import COUNTS_ON, FILES, PARTS
from tests.fault.machine import Told

from saltern.journal.report import report_of
from saltern.journal.runs import Runs
from saltern.journal.summaries import Summary
from saltern.report.salt import to_dict
from saltern.system import build_slots


class RunBoat(Boat):
    codes = (2,)  # a state of the tree fails, as it should

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.place.write(FILES)

    def words(self) -> list[str]:
        if any(one.status != "unbegun" for one in self.summaries()):
            return ["resume", "--out", "json"]
        return ["apply", "main", "--pillar", f"{{at: {self.at}}}", "--out", "json"]

    def is_over(self) -> bool:
        return any(one.status == "failed" for one in self.summaries())

    def summaries(self) -> list[Summary]:
        return list(Runs(self.settings).summaries())

    def shown(self) -> Told:
        """The last run, by its journal, without the place of this machine."""
        runs = Runs(self.settings)
        text = json.encode(to_dict(report_of(runs.state(runs.jids()[0])))).decode()
        return json.decode(text.replace(str(self.base), "BASE"), type=Told)


@cache
def voyage() -> tuple[Voyage[RunBoat], Told]:
    """The run that nobody breaks, and what it tells."""
    found = Voyage(RunBoat)
    return found, found.boat.shown()


def proven(boat: RunBoat, crashes: Sequence[Crash]) -> None:
    """Go on to the end, and look at all that has happened."""
    try:
        boat.through()
        holds(boat, times=len(crashes), power=any(crash.power for crash in crashes))
    except AssertionError as problem:
        raise AssertionError(f"{crashes}: {problem}") from None


def holds(boat: RunBoat, *, times: int, power: bool) -> None:
    """What is true of a run that has ended, however often it was broken, and by a loss of power or not."""
    usual, expected = voyage()
    told, steps = boat.shown(), boat.steps()
    doubt = {
        str(one["__id__"]).removeprefix("listener_") for one in told.values() if one.get("indeterminate")
    }
    assert len(doubt) <= 2 * times, f"too many are in doubt: {doubt}"
    assert power or not doubt & _programs(told), f"a program goes on: {doubt}"
    usual.holds(boat, doubt | {part for name in doubt for part in PARTS.get(name, ())})
    assert boat.asked + boat.lost >= usual.boots, f"{boat.asked} reboots"
    assert build_slots.in_use(str(boat.opt)) == "slots/b"
    _same(told, expected, doubt, power=power)
    again = boat.run("resume")
    assert "nothing to resume" in again.err, again.err
    assert boat.steps() == steps, "something is done after the end"


def _programs(told: Told) -> set[str]:
    """A kill leaves them at work, and what they come to is known."""
    return {str(answer["__id__"]) for tag, answer in told.items() if tag.startswith("cmd_|-")}


def _same(told: Told, expected: Told, doubt: set[str], *, power: bool) -> None:
    blocked = {name for name, on in COUNTS_ON.items() if doubt & on}
    hidden = {"step-1", "step-2"} if "stepping" in blocked else set()  # it was not called
    order, wanted = ([name for name in _order(each) if name not in hidden] for each in (told, expected))
    assert order == wanted, f"{order} is not {wanted}"
    for tag, answer in told.items():
        name = str(answer["__id__"])
        if name.removeprefix("listener_") in doubt or name in blocked:
            continue
        assert answer["result"] == expected[tag]["result"], f"{tag}: {answer}"
        if not answer.get("resumed"):
            assert _changes(answer) == _changes(expected[tag]), f"{tag}: {answer}"
            comment, wanted_comment = str(answer["comment"]), str(expected[tag]["comment"])
            more = power and comment.startswith(wanted_comment)  # a boot too many is told
            assert comment == wanted_comment or more, f"{tag}: {answer}"


def _order(told: Told) -> list[str]:
    """What runs beside the others has its place by chance."""
    return [str(answer["__id__"]) for answer in told.values() if "par-" not in str(answer["__id__"])]


def _changes(answer: dict[str, object]) -> dict[str, object]:
    changes = answer["changes"]
    assert isinstance(changes, dict)
    return {key: value for key, value in changes.items() if key != "pid"}
