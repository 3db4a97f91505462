"""A leg under thousands of schedules: the real ``fold`` and ``decide`` on a machine that is played here.

Its process is killed at any point, the machine reboots, operators pause, resume and cancel; what has been
done is a trace with the boot that it was done in, and the invariants are checked over it. ``CHAOS_SECONDS``
makes it long.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct, field

from saltern.chains import decide as steps
from saltern.chains.compile import LegPlan, plan_for
from saltern.chains.decide import decide
from saltern.chains.document import Action, read_chain
from saltern.chains.leg import LegState, fold
from saltern.chains.statuses import BAD, ENDED_WELL, GOOD, OVER, Leg, Step
from saltern.journal.form import Record
from saltern.runtime.recovery import MOST_RECOVERIES

MANY = 20_000 if os.environ.get("CHAOS_SECONDS") else 400
KINDS = ("command: 'true'", "command: 'true', resume: rerun", "wait: 0", "reboot: {}")
POLICIES = ("", ", on_failure: continue", ", on_failure: pause")


class Killed(Exception):
    """The process is gone; what it had written stays."""


class Run(Struct):
    """The run of a segment, as its own journal has it: what was begun, and what came of it."""

    names: tuple[str, ...]
    last: bool
    begun: set[str] = field(default_factory=set)
    results: dict[str, Step] = field(default_factory=dict)
    barrier: dict[str, int] = field(default_factory=dict)  # a reboot that was asked for → in which boot


class Machine:
    """One machine with one leg."""

    def __init__(self, plan: LegPlan, dice: Random, kills: int) -> None:
        self.plan, self.dice, self.kills = plan, dice, kills
        self.records: list[Record] = []
        self.runs: dict[str, Run] = {}
        self.boot = 1
        self.trace: list[tuple[str, int]] = []  # what was done, in which boot
        self.reboots: list[str] = []
        self.actions: dict[str, Action] = {one.id: one for one in plan.every}
        self.outcomes = {
            one.id: dice.choice([Step.SUCCEEDED] * 4 + [Step.FAILED, Step.TIMED_OUT]) for one in plan.every
        }

    @property
    def state(self) -> LegState:
        return fold(self.plan, self.records)

    def write(self, kind: str, **body: object) -> None:
        self.point()
        self.records.append(Record(len(self.records), kind, body))
        self.point()

    def point(self) -> None:
        if self.kills and self.dice.random() < 0.15:
            self.kills -= 1
            raise Killed

    # -- the process ---------------------------------------------------------------------------------

    def live(self) -> None:
        """Processes of the leg, one after the other, until it is over or rests."""
        for _ in range(200):
            try:
                self.take_up()
                while (command := decide(self.state)) is not None:
                    self.operate()
                    if decide(self.state) == command:
                        DOERS[type(command)](self, command)
                return
            except Killed:
                continue
        raise AssertionError("I5: it does not come to an end")

    def take_up(self) -> None:
        state = self.state
        if state.status in OVER:
            return
        if state.status in (Leg.PENDING, Leg.PAUSED):
            self.write("begun")
        elif state.segment is None or not self.runs.get(state.segment.jid, Run((), False)).barrier:
            self.write("recovered", run=0)

    def operate(self) -> None:
        """An operator may have something to say before the next step."""
        state, what = self.state, self.dice.random()
        if what < 0.03 and not state.cancelled:
            self.write("cancel", reason="enough")
        elif what < 0.06 and state.status is Leg.RUNNING and state.segment is None and not state.cancelled:
            self.write("paused", reason="wait")
            self.write("begun")

    def begin(self, command: steps.Begin) -> None:
        names = tuple(one.id for one in command.actions)
        jid = f"r{len(self.runs)}"
        self.runs[jid] = Run(names, command.last)
        self.write("chunk", jid=jid, actions=list(names), announced=True)
        self.work(jid)

    def carry_on(self, command: steps.Continue) -> None:
        if self.state.cancelled:
            self.end(command.segment.jid)
        else:
            self.work(command.segment.jid)

    def work(self, jid: str) -> None:
        run = self.runs[jid]
        for name in run.names:
            if name not in run.results:
                self.act(jid, run, name)
            stops = self.actions[name].stops and not run.last
            if run.results[name] in BAD and stops:
                break
        self.end(jid)

    def act(self, jid: str, run: Run, name: str) -> None:
        """One action: its intent is in the journal of the run before its effect, its result after it."""
        action = self.actions[name]
        if action.kind == "reboot":
            return self.reboot(jid, run, name)
        if name in run.begun and not action.repeatable:
            run.results[name] = Step.INDETERMINATE
            return None
        run.begun.add(name)
        self.point()
        self.effect(jid, name)
        self.point()
        run.results[name] = self.outcomes[name]
        return None

    def reboot(self, jid: str, run: Run, name: str) -> None:
        if name in run.barrier and run.barrier[name] != self.boot:
            run.results[name] = Step.SUCCEEDED
            return
        run.barrier[name] = self.boot
        self.write("left", status=Leg.REBOOTING.value)
        self.effect(jid, name)
        self.reboots.append(name)
        self.boot += 1
        raise Killed

    def effect(self, jid: str, name: str) -> None:
        written = [one.body for one in self.records if one.kind == "chunk"]
        assert any(body["jid"] == jid and name in body["actions"] for body in written), "I8"  # type: ignore[index]
        assert self.state.status not in OVER, "I11"
        self.trace.append((name, self.boot))

    def end(self, jid: str) -> None:
        run = self.runs[jid]
        doubt = dict.fromkeys(run.begun - run.results.keys(), Step.INDETERMINATE)
        rows = {name: (run.results | doubt).get(name, Step.NOT_RUN).value for name in run.names}
        same = {"comment": "", "changed": False, "took": 0.0}
        self.write(
            "results", jid=jid, steps={name: {"status": status, **same} for name, status in rows.items()}
        )

    def wait(self, command: steps.Pause) -> None:
        """An operator answers what failed: again, if nothing else would be run with it, or without it."""
        self.write("paused", reason=command.reason)
        failed = [name for name, step in self.state.steps.items() if step.status in BAD]
        self.outcomes[failed[-1]] = Step.SUCCEEDED
        if len(failed) == 1 and self.actions[failed[0]].repeatable:
            self.write("retry")
        else:
            self.write("skip", action=failed[-1], reason="looked at")
        self.write("begun")

    def quarantine(self, _command: steps.Quarantine) -> None:
        self.write("quarantine", steps={})

    def finish(self, command: steps.Finish) -> None:
        self.write("finished", status=command.status.value)


DOERS: dict[type, Callable[[Machine, Any], None]] = {
    steps.Begin: Machine.begin,
    steps.Continue: Machine.carry_on,
    steps.Pause: Machine.wait,
    steps.Quarantine: Machine.quarantine,
    steps.Finish: Machine.finish,
}


def machine(seed: int) -> Machine:
    dice = Random(seed)
    rows = [f"  - {{id: a{at}, {dice.choice(KINDS)}POLICY}}\n" for at in range(dice.randint(1, 6))]
    rows = [row.replace("POLICY", dice.choice(POLICIES) if "reboot" not in row else "") for row in rows]
    last = "finally: [{id: end, wait: 0}]\n" if dice.random() < 0.4 else ""
    chain = read_chain(f"chain: c\n{last}actions:\n{''.join(rows)}", "c")
    return Machine(plan_for(chain, "s"), dice, kills=dice.randint(0, MOST_RECOVERIES - 1))


@given(st.integers(0, 2**32))
@settings(max_examples=MANY, deadline=None)
def test_the_invariants_hold_over_every_trace_of_a_leg(seed: int) -> None:
    one = machine(seed)
    one.live()
    state, names = one.state, [action.id for action in one.plan.steps]
    assert state.status in OVER, "I5"
    done = [name for name, _ in one.trace if name in names]
    assert [name for at, name in enumerate(done) if name not in done[:at]] == [
        name for name in names if name in done
    ], "I1: in their order"
    for name, action in one.actions.items():
        if not action.repeatable and action.kind != "reboot":
            assert done.count(name) <= 1, "I2: at most once"
    crossed = [
        name for name in names if one.actions[name].kind == "reboot" and state.steps[name].status in GOOD
    ]
    assert set(crossed) <= set(one.reboots) and len(one.reboots) == len(set(one.reboots)), "I3"
    for name in crossed:
        down = next(boot for which, boot in one.trace if which == name)
        after = names[names.index(name) + 1 :]
        assert all(boot > down for which, boot in one.trace if which in after), "I4"
    if state.status in ENDED_WELL:
        assert all(step.status in GOOD for step in state.steps.values()), "I9"
        proven = {name for name, step in state.steps.items() if step.status is Step.SUCCEEDED}
        assert proven <= {name for name, _ in one.trace}, "I9: with the proof of each"
