"""A leg of an action chain, with barriers, on a machine that is broken; and what must be true of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.fault.crossing_machine import Boat, Crash, Voyage

from saltern.chains.legs import KnownLeg, Legs
from saltern.chains.statuses import OVER
from saltern.system import build_slots

CHAIN = """\
chain: whole
id: 7
actions:
  - {{id: a, command: {{run: '{a}'}}}}
  - {{id: b, file: {{path: '{at}/b', contents: hello}}}}
  - {{id: r, reboot: {{}}}}
  - {{id: well, health: {{command: 'test -f {at}/b'}}}}
  - {{id: c, command: {{run: '{c}'}}}}
  - {{id: u, agent: {{version: '2', slots: '{at}/opt'}}}}
  - {{id: d, command: {{run: '{d}; false'}}, on_failure: continue}}
  - {{id: s, state: {{sls: small}}}}
  - {{id: h, command: {{run: '{at}/halfway.sh'}}}}
  - {{id: q, reboot: {{}}}}
  - {{id: e, command: {{run: '{e}'}}}}
"""
FILES = {"small.sls": "small:\n  file.managed: [{name: '@/small'}, {contents: x}]\n"}
PARTS = {"h": ("part-1", "part-2")}  # what it logs
FAILS = {"d"}
NOTHING = "nothing to resume"


class LegBoat(Boat):
    """Gone on with by whoever boots the machine, or by a user, in turn."""

    codes = (0, 2, 6)

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.place.write({name: text.replace("@", str(self.at)) for name, text in FILES.items()})
        echo = {name: f"echo {name} $(cat {self.at}/boot) $BUILD >> {self.at}/log" for name in "acde"}
        self.file = base / "chain.yaml"
        self.file.write_text(CHAIN.format(at=self.at, **echo))
        self.turn = 0

    def words(self) -> list[str]:
        self.turn += 1
        if self.leg() is None:
            return ["chain", "run", str(self.file)]
        return ["resume", "--boot"] if self.turn % 2 else ["chain", "resume"]

    def leg(self) -> KnownLeg | None:
        return next(Legs(self.settings).all(), None)

    def is_over(self) -> bool:
        known = self.leg()
        return known is not None and known.state.status in OVER

    def statuses(self) -> dict[str, str]:
        known = self.leg()
        assert known is not None
        return {name: step.status.value for name, step in known.state.steps.items()}


@cache
def voyage() -> tuple[Voyage[LegBoat], dict[str, str]]:
    """The leg that nobody breaks, and the statuses of its steps."""
    found = Voyage(LegBoat)
    return found, found.boat.statuses()


def proven(boat: LegBoat, crashes: Sequence[Crash]) -> None:
    """Go on to the end, and look at all that has happened."""
    try:
        boat.through()
        holds(boat, power=any(crash.power for crash in crashes))
    except AssertionError as problem:
        raise AssertionError(f"{crashes}: {problem}") from None


def holds(boat: LegBoat, *, power: bool) -> None:
    """What is true of a leg that is over. One step in doubt ends it, unless the chain says otherwise."""
    usual, expected = voyage()
    found, steps = boat.statuses(), boat.steps()
    doubt = [name for name, status in found.items() if status == "indeterminate"]
    assert power or not doubt, f"a program goes on: {doubt}"
    order = list(expected)
    ending = next((order.index(name) for name in doubt if name not in FAILS), len(order))
    for name, status in found.items():
        wanted = "not run" if order.index(name) > ending else expected[name]
        assert name in doubt or status == wanted, f"{name}: {found}"
    missing = {*doubt, *order[ending:]}
    usual.holds(boat, missing | {part for name in missing for part in PARTS.get(name, ())})
    if ending == len(order):
        assert boat.asked + boat.lost >= usual.boots, f"{boat.asked} reboots"
        assert build_slots.in_use(str(boat.opt)) == "slots/b"
    again = boat.run("chain", "resume")
    assert NOTHING in again.err, again.err
    assert boat.steps() == steps, "something is done after the end"
